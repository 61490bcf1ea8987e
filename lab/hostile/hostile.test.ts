/** The short form of `npm run lab -- hostile`: the corpus, and a few mutated inputs with a fixed seed. */
import { describe, expect, it } from "vitest";
import { readCorpus, replayCorpus } from "./fuzz/corpus.ts";
import { FUZZERS } from "./fuzz/fuzzers.ts";

describe("hostile inputs", () => {
  it("that were found earlier cause no problem again", async () => {
    const corpus = readCorpus();
    expect(corpus.length).toBeGreaterThan(0);
    expect(await replayCorpus(corpus)).toEqual({});
  });

  it.each(Object.entries(FUZZERS))(
    "with a fixed seed cause no crash and no internal error: %s [SEC-57]",
    async (_, { run, testCount }) => {
      const { sent, findings } = await run({ seed: "test", count: testCount });
      expect(findings).toEqual([]);
      expect(sent).toBeGreaterThanOrEqual(testCount);
    },
  );
});
