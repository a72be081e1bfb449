"""Files that grow (--layout growing): what bfinspect says of their slices, from one to five full ones. html_test.py has their pictures."""
from inspector import LIVE, SLICES, Bytes, InspectorCase, unittest


class Growing(InspectorCase):
    def told(self, path, **more):
        return " ".join(self.text(path, **more).split())

    # With three slices it said "bits set 6.17 million of 13,824", and "overfull".
    def test_all_numbers_are_those_of_the_slices_of_now(self):
        for keys, slices, times in SLICES:
            with self.subTest(keys=keys):
                path = self.grown(keys, name=f"of {keys}")
                found = self.json(path)
                self.assertEqual((found["num_slices"], found["most_slices"], found["growth"], found["first_capacity"], found["capacity_at_most"]), (slices, 5, 3, 1000, 121000))
                self.assertEqual((found["capacity"], found["num_bits"]), (1000 * times, found["body_bytes"] * 8))
                self.assertEqual((found["overfull"], found["bits_may_be_missing"]), (False, False))
                self.assertLess(found["fill_ratio"], 0.5)
                self.assertAlmostEqual(found["fill_ratio"], found["set_bits"] / found["num_bits"])
                self.assertAlmostEqual(found["bits_per_key"], found["num_bits"] / found["capacity"])
                self.assertLess(abs(found["estimated_keys"] - keys), 10 + keys * 0.03)
                self.assertLessEqual(found["estimated_fpr"], 0.0101)
                told = self.told(path)
                self.assertIn(f"slices {slices} of 5, each 3 times as large as the one before made for 1,000 keys at first, 121,000 with 5 slices promised", told)
                self.assertIn("false positives when all slices are full", told)
                self.assertIn(f"bits set {found['set_bits']:,}", told)

    def test_the_room_is_that_until_the_next_slice_and_in_all_slices(self):
        for keys, counted, words in ((0, 0, "1,000 more keys until its next slice, about "), (900, 900, "100 more keys until its next slice, about "),
                                     (900, 999, "1 more key until its next slice, about "),
                                     (900, 1000, "its slices are full, and the next add makes another one: about "),  # as if there was no room on the disk
                                     (1100, 1100, "2,900 more keys until its next slice, about "), (3500, 3500, "500 more keys until its next slice, about ")):
            raw = Bytes(self.grown(keys, name=f"of {keys}, {counted}"))
            stripes = {at: raw.get(at, "Q") for at in range(LIVE + 64, LIVE + 64 * 33, 64)}
            path = raw.put(max(stripes, key=stripes.get), "Q", counted).write()
            found, told = self.json(path), self.told(path)
            self.assertEqual(found["keys_until_next_slice"], found["capacity"] - counted)
            self.assertGreater(found["remaining_keys"], 121000 - keys - 100)
            self.assertIn(f"room for {words}", told)
            self.assertIn(" with all slices", told)
            self.assertIn("nothing to do", told)
        last = self.json(self.grown(60000, name="last"))
        self.assertEqual((last["num_slices"], last["keys_until_next_slice"]), (5, None))
        self.assertIn("room for about ", self.told(self.path("last")))

    def test_five_full_slices_have_no_room_and_more_keys_are_too_many(self):
        full = self.grown(121500, name="full")
        self.assertGreater(self.json(full)["keys_added"], 120000)
        self.assertEqual(self.json(full)["overfull"], False)
        over = self.grown(200000, name="over")
        found = self.json(over, code=1)
        self.assertEqual((found["overfull"], found["remaining_keys"], found["num_slices"]), (True, 0, 5))
        told = self.told(over, code=1)
        self.assertIn("room for none: overfull. It has all its slices, and grows no more. Build a larger one from all keys (bf build)", told)
        self.assertEqual(self.json(over, "--quick", code=1)["overfull"], True)

    def test_what_was_not_counted_is_not_judged_while_it_grows(self):
        path = self.grown(1100)
        self.assertEqual(self.json(path, "--quick")["overfull"], False)
        raw = Bytes(path)
        raw.put(LIVE + 64, "Q", 50000).write()  # of one stripe: as if it could not grow
        self.assertIsNone(self.json(path, "--quick")["overfull"])

    def test_a_hole_is_found_in_each_slice_and_an_emptier_slice_is_none(self):
        for keys, _, _ in SLICES[1:]:
            self.assertEqual(self.json(self.grown(keys, name=f"of {keys}"))["emptier_stretches"], 0)
        path = self.grown(100000, name="holed", first="10k", most="1M")
        found = self.json(path)
        self.assertEqual((found["num_slices"], found["emptier_stretches"], found["bits_may_be_missing"]), (3, 0, False))
        first = Bytes(path)
        begin = first.get(72, "Q")
        sizes = [first.get(80, "Q") * 3**i for i in range(3)]
        places = [begin]
        for size in sizes[:2]:  # a slice, an end word in a page of its own, and the next one from the next page on
            places.append((places[-1] + size + 4095) // 4096 * 4096 + 4096)
        for at, size in list(zip(places, sizes))[1:]:
            holed = Bytes(path)
            holed.data[at + size // 2:at + size // 2 + size // 4] = bytes(size // 4)
            found = self.json(holed.write(self.path("hole")), code=1)
            self.assertGreater(found["emptier_stretches"], 0)
            self.assertTrue(found["bits_may_be_missing"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
