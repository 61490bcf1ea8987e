import { describe, expect, it } from "vitest";
import { lintProse } from "../../scripts/prose/lint.ts";
import { VOCABULARY } from "../../scripts/prose/rules.ts";

const lint = (markdown: string, isPage = true): string[] =>
  lintProse({ file: "page.md", markdown, isPage }).map(({ rule, message }) => `${rule}: ${message}`);

describe("the prose linter", () => {
  it.each(VOCABULARY)("reports $example", ({ example, advice }) => {
    expect(lint(example)).toEqual([expect.stringMatching(/^vocabulary: /) as string]);
    expect(lint(example).join()).toContain(advice);
  });

  it("ignores code blocks, inline code, and quotations", () => {
    expect(lint("```sh\nwhoever says nobody\n```\n\nRun `whoever`.\n\n> Somebody said so.")).toEqual([]);
  });

  it("reports sentences of more than 40 words, but not paragraphs of short ones", () => {
    const sentence = `The server ${"stores one more event and ".repeat(9)}returns.`;
    expect(lint(sentence, false)).toEqual([expect.stringMatching(/^sentence-length: /) as string]);
    expect(lint("The server stores the event. ".repeat(20), false)).toEqual([]);
  });

  it("reports pages' lines over 120 columns, except in code and tables", () => {
    const line = "The server stores each event. ".repeat(5).trim();
    expect(lint(line)).toEqual([expect.stringMatching(/^line-length: /) as string]);
    expect(lint(`| a |\n|---|\n| ${line} |`)).toEqual([]);
    expect(lint(line, false)).toEqual([]);
  });
});
