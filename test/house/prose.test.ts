import { describe, expect, it } from "vitest";
import { lintProse } from "../../scripts/prose/lint.ts";

const lint = async (markdown: string, isPage = true): Promise<string[]> =>
  (await lintProse({ file: "page.md", markdown, isPage })).map(({ rule }) => rule);

describe("the prose linter", () => {
  // The worst sentences of the pages before the sweep of November 2026.
  it.each([
    "Its tables it cannot make twice at once: start one server before the others.",
    "`basePath` is the path below which the agents are to be; the host hands on whole paths.",
    "Whom `authenticate` of the server lets in, and nobody else.",
    "How reads are repeated. What does something never is.",
    "Rejects for cards that are not to be trusted. Given each as it was served, before it is used.",
    "So a throw fails the task, and the caller is not told what was thrown.",
    "What has just been accepted may be learned of as absent: whoever asks meanwhile hears of the time before.",
    "A flag is stronger than the environment, that than `.env`.",
    "It believes nobody without `token`, and the server dies without a word.",
    "Closed by default: loopback only, unless you say otherwise in words.",
    "They stand in a header, and may be given up.",
  ])("reports %s", async (sentence) => {
    expect(await lint(sentence)).toContain("vocabulary");
  });

  it.each([
    "Creating its tables is not safe under concurrent start-up: start one server first.",
    "`basePath` is the URL prefix under which the agents are mounted. Pass the full, unstripped request path.",
    "Only callers accepted by the server's `authenticate` option.",
    "Verifies agent cards. Called with each card as served, before use; throw to reject it.",
    "An uncaught error fails the task, and its message is hidden from the caller.",
  ])("accepts %s", async (sentence) => {
    expect(await lint(sentence)).toEqual([]);
  });

  it("ignores code blocks, inline code, and quotations", async () => {
    expect(await lint("```sh\nwhoever says nobody\n```\n\nRun `whoever`.\n\n> Somebody said so.")).toEqual(
      [],
    );
  });

  it("reports sentences of more than 40 words, but not paragraphs of short ones", async () => {
    expect(await lint(`The server ${"stores one more event and ".repeat(9)}returns.`)).toContain(
      "sentence-length",
    );
    expect(await lint("The server stores the event. ".repeat(20), false)).toEqual([]);
  });

  it("reports pages' lines over 120 columns, except in code and tables", async () => {
    const line = "The server stores each event. ".repeat(5).trim();
    expect(await lint(line)).toEqual(["line-length"]);
    expect(await lint(`| a |\n|---|\n| ${line} |`)).toEqual([]);
    expect(await lint(line, false)).toEqual([]);
  });
});
