import { describe, expect, it } from "vitest";
import { lintProse } from "../../scripts/prose/lint.ts";
import { VOCABULARY } from "../../scripts/prose/rules.ts";

const lint = async (markdown: string, isPage = true): Promise<string[]> =>
  (await lintProse({ file: "page.md", markdown, isPage })).map(({ rule, message }) => `${rule}: ${message}`);

describe("the prose linter", () => {
  it.each(VOCABULARY)("reports $example", async ({ example, advice }) => {
    expect(await lint(example)).toEqual([expect.stringMatching(/^vocabulary: /) as string]);
    expect((await lint(example)).join()).toContain(advice);
  });

  it("ignores code blocks, inline code, and quotations", async () => {
    expect(await lint("```sh\nwhoever says nobody\n```\n\nRun `whoever`.\n\n> Somebody said so.")).toEqual(
      [],
    );
  });

  it("reports sentences of more than 40 words, but not paragraphs of short ones", async () => {
    const sentence = `The server ${"stores one more event and ".repeat(9)}returns.`;
    expect(await lint(sentence, false)).toEqual([expect.stringMatching(/^sentence-length: /) as string]);
    expect(await lint("The server stores the event. ".repeat(20), false)).toEqual([]);
  });

  it("reports pages' lines over 120 columns, except in code and tables", async () => {
    const line = "The server stores each event. ".repeat(5).trim();
    expect(await lint(line)).toEqual([expect.stringMatching(/^line-length: /) as string]);
    expect(await lint(`| a |\n|---|\n| ${line} |`)).toEqual([]);
    expect(await lint(line, false)).toEqual([]);
  });
});
