"""experiments/pages.py, by hand-computed figures: /usr/bin/python3 pages_test.py SOURCE_FOLDER"""
import gzip
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "experiments"))
import pages  # noqa: E402

sys.path.insert(0, str(pages.EXPERIMENTS / "search"))
import means  # noqa: E402


def row(method, trial, target, acc10, **others):
    return {"experiment": "e", "sampler": "s", "samples": "10", "clones": "", "pool": "p", "descriptor": "none",
            "method": method, "trial": trial, "target": target, "acc10": str(acc10), **others}


class Differences(unittest.TestCase):
    def test_finds_the_pages_and_the_searches(self):
        self.assertGreater(len(list(pages.pages())), 35)
        self.assertEqual(len(list(pages.searches())), 10)

    def test_are_paired_by_trial_with_their_standard_error(self):
        # Over targets: a is .5, .7, .9 and b .4, .5, .6, so that they differ by −.1, −.2, −.3: −.2 ± .1 / √3.
        rows = [row("a", t, target, share + off) for t, share in (("1", .5), ("2", .7), ("3", .9))
                for target, off in (("x", .1), ("y", -.1))]
        rows += [row("b", t, target, share) for t, share in (("1", .4), ("2", .5), ("3", .6)) for target in "xy"]
        best, mean, lines = pages.differences_of_group(next(iter(pages.shares(rows).values())))
        self.assertEqual(best, "a")
        self.assertAlmostEqual(mean, .7)
        self.assertEqual(lines, ["| b | 50.0 | -20.0 ± 5.8 | apart |"])

    def test_within_two_standard_errors_are_level(self):
        rows = [row("a", t, "x", share) for t, share in (("1", .5), ("2", .7), ("3", .9))]
        rows += [row("b", t, "x", share) for t, share in (("1", .6), ("2", .6), ("3", .7))]  # +.1, −.1, −.2
        self.assertIn("| b | 63.3 | -6.7 ± 8.8 | level |", pages.differences_section(rows))

    def test_leave_out_what_has_other_trials_and_ceilings(self):
        rows = [row(m, t, "x", .5) for m in "ab" for t in "123"] + [row("c", t, "x", .4) for t in "12"]
        rows += [row("d", t, "x", .9, samples="all") for t in "123"]
        section = pages.differences_section(rows)
        self.assertIn("| b |", section)
        self.assertNotIn("| c |", section)
        self.assertNotIn("d", section.split("|---|")[-1].replace("standard", ""))

    def test_of_fewer_than_three_trials_are_not_shown(self):
        self.assertEqual(pages.differences_section([row(m, t, "x", .5) for m in "ab" for t in "12"]), "")


class Notes(unittest.TestCase):
    def test_say_what_has_changed_since_a_page_was_made(self):
        made = pages.made_line("pooling", "HEAD") or self.skipTest("no clone")
        self.addCleanup(setattr, pages, "ROOT", pages.ROOT)
        with tempfile.TemporaryDirectory() as folder:
            pages.ROOT = pathlib.Path(folder)
            (pages.ROOT / "datasets/data/one").mkdir(parents=True)
            (pages.ROOT / "datasets/data/one/device.json").write_text("{}")
            (pages.ROOT / "experiments/paper").mkdir(parents=True)
            (pages.ROOT / "experiments/paper/pooling.json").write_text('{"name": "pooling", "data": {"pool": "datasets/data"}}')
            note = pages.old_note("pooling", made, [])
        self.assertRegex(note, r"^\*\*Out of date:\*\* made on \S+; `experiments/paper/pooling.json` and `datasets/data` have changed")

    def test_stand_behind_the_title_once(self):
        page = pages.EXPERIMENTS / "paper/ablation/README.md"
        text = pages.with_notes(page, "ablation", page.read_text())
        self.assertTrue(text.startswith("# ablation\n\n**The counters are simulated** by callgrind"))
        self.assertEqual(text, pages.with_notes(page, "ablation", text))
        self.assertEqual(text.count(pages.COUNTERS), 1)

    def test_stand_in_the_index_behind_the_link(self):
        row = "| [data](d/README.md): 1.0 % ([a](cells/a/README.md){}) | `make a` | – |"
        for notes, said in (("", ""), (pages.OLD, ", out of date"),
                            (pages.COUNTERS + pages.OLD, ", simulated counters, out of date")):
            for before in ("", ", out of date", ", simulated counters"):
                self.assertEqual(pages.index_with_notes(row.format(before), {"a": notes}), row.format(said))
        section = "| 1.0 % ([a](search/README.md#a){}) | `make a` | – |"
        self.assertEqual(pages.index_with_notes(section.format(""), {"a": pages.OLD}), section.format(", out of date"))
        self.assertEqual(pages.index_with_notes("| a | 1.0 |", {}), "| a | 1.0 |")

    def test_stand_behind_the_heading_of_a_search_and_leave_the_others_as_they_are(self):
        text = pages.SEARCHES.read_text()
        self.assertEqual(pages.with_section("operator_shapes", text), text)
        made = "Made by revision `0000000` (2026-01-01); data `000000000000`."
        other = pages.with_section("operator_shapes", text, made)
        self.assertIn(f"\n## operator_shapes\n\n{pages.OLD} made on 2026-01-01; `datasets/data/networks` has", other)
        self.assertEqual(other.count(made), 1)
        self.assertEqual(pages.section_of("cold_pool_search", other), pages.section_of("cold_pool_search", text))

    def test_count_the_cells_of_a_search_by_its_means(self):
        self.assertIn("72 of 128 cells use them", pages.counters_note("maple_edge_descriptor_search", []))

    def test_are_of_packed_tables_too(self):
        with tempfile.TemporaryDirectory() as folder:
            table = pathlib.Path(folder) / "results.csv"
            with gzip.open(f"{table}.gz", "wt") as file:
                file.write("a,b\n1,2\n")
            self.assertEqual(pages.read_rows(table), [{"a": "1", "b": "2"}])

    def test_show_means_without_what_is_no_measurement(self):
        rows = [row("m", t, target, share) for t, share in (("1", .8), ("2", .6)) for target in ("x", "y")]
        rows += [row("m", t, "pixel3", .2) for t in "12"]
        self.assertIn("| m | 53.3 ± 9.4 | 70.0 ± 14.1 |", pages.without_section("fbnet", rows))
        self.assertEqual(pages.without_section("ofa", rows), "")

    def test_do_not_depend_on_how_a_spec_is_described(self):
        self.assertEqual(pages.spec_digest('{"name": "a", "description": "b", "trials": 3}'),
                         pages.spec_digest('{"trials": 3}'))
        self.assertNotEqual(pages.spec_digest('{"trials": 3}'), pages.spec_digest('{"trials": 4}'))

    def test_do_not_depend_on_checksums_of_networks(self):
        self.assertEqual(pages.blob_hash("a/networks.json", b'{\n "hash": "1",\n "kept_hash": "2",\n "name": "x"\n}'),
                         pages.blob_hash("a/networks.json", b'{\n "hash": "1",\n "name": "x"\n}'))
        self.assertNotEqual(pages.blob_hash("a/networks.json", b'{"hash": "1"}'), pages.blob_hash("a/networks.json", b"{}"))

    def test_do_not_depend_on_how_deep_a_spec_lies(self):
        spec = '{{"data": {{"pool": "{}datasets/data/cold"}}}}'
        self.assertEqual(pages.spec_digest(spec.format("../")), pages.spec_digest(spec.format("../../")))
        self.assertNotEqual(pages.spec_digest(spec.format("../")), pages.spec_digest(spec.format("")))


class Tables(unittest.TestCase):
    def kept(self, folder, text):
        table = pathlib.Path(folder) / "made" / "pairs.csv"
        table.parent.mkdir(exist_ok=True)
        table.write_text(text)
        page = pathlib.Path(folder) / "README.md"
        page.write_text("[pairs](pairs.csv), [others](other_pairs.csv)\n" if not page.exists() else page.read_text())
        subprocess.run([pages.EXPERIMENTS / "shared/keep_table.sh", table, folder], check=True)
        return sorted(path.name for path in pathlib.Path(folder).glob("*.csv*")), page.read_text()

    def test_are_packed_where_they_are_large_and_linked_to_as_they_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            large = "a\n" + "1\n" * 25_000
            names, page = self.kept(folder, large)
            self.assertEqual(names, ["pairs.csv.gz"])
            self.assertEqual(page, "[pairs](pairs.csv.gz), [others](other_pairs.csv)\n")
            self.assertEqual(gzip.decompress((pathlib.Path(folder) / "pairs.csv.gz").read_bytes()).decode(), large)
            names, page = self.kept(folder, "a\n1\n")
            self.assertEqual(names, ["pairs.csv"])
            self.assertEqual(page, "[pairs](pairs.csv), [others](other_pairs.csv)\n")

    def test_of_searches_are_means_over_targets_and_their_deviation_over_trials(self):
        # Trials of .5 and .7, each over two targets: 60 with a deviation of 20 / √2.
        rows = [row("m", t, target, share + off, spearman="0.9", descriptor=kind)
                for t, share, kind in (("1", .5, "none"), ("2", .7, "in-network + counters"))
                for target, off in (("x", .1), ("y", -.1))]
        self.assertEqual(list(means.means_of("s", rows)),
                         [["s", "p", "10", "m", 4, 2, 2, "60.00", "14.14", "0.9000"]])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
