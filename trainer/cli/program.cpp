#include <exception>
#include <iostream>
#include <new>

#include "nasbench/support/text.h"
#include "trainer/cli/command.h"
#include "trainer/cli/signals.h"

int main(int argc, char** argv) {
  using namespace tenshot;
  constexpr std::size_t longest_message = 2000;
  cli::watch_signals();
  try {
    return cli::run({argv + 1, argv + argc});
  } catch (const cli::UsageError& error) {
    std::cerr << "tenshot: " << excerpt(error.what(), longest_message) << "\n";
    return 2;
  } catch (const cli::DoubtfulVerdict& verdict) {
    std::cerr << "tenshot: " << excerpt(verdict.what(), longest_message) << "\n";
    return 3;
  } catch (const std::bad_alloc&) {
    std::cerr << "tenshot: out of memory\n";
  } catch (const Interrupted& error) {
    std::cerr << "tenshot: " << error.what() << "\n";
    cli::end_by_signal();
  } catch (const std::exception& error) {
    // LibTorch appends a backtrace to its messages; the first line is what a person can use.
    const std::string text = error.what();
    std::cerr << "tenshot: " << excerpt(text.substr(0, text.find('\n')), longest_message) << "\n";
  }
  return 1;
}
