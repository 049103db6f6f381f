#pragma once

namespace tenshot::cli {

// SIGINT (Ctrl-C), SIGTERM and SIGHUP end any verb within a second. Verbs that keep unfinished work ask
// stop_requested() and stop in order: they have most of that second to save their state. The others, and those that are
// blocked in a read, are ended by a thread that waits for the signal. Either way temporary files are removed, and the
// program ends by the signal itself, so that a shell sees 128 + its number and a script is stopped by Ctrl-C too.

/// Call it first in main.
void watch_signals();

/// True once such a signal has come. Whoever asks has time to stop in order; a second signal ends the program.
bool stop_requested();

/// Ends the program by the signal that has come, after its temporary files are removed; does nothing where none has.
void end_by_signal();

}  // namespace tenshot::cli
