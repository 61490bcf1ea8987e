import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { renderHtmlReport } from "../../studio/pages/index.ts";
import {
  createScriptedRecording,
  createScriptedRecordFileText,
} from "../../cards/recording/recording.fixture.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";
import { isWindows } from "../../../test/support/is-windows.ts";

describe("colloquy cards html", () => {
  it("writes the page next to the recording, or to the given file", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": createScriptedRecordFileText() });
    const beside = await runCliInTestProcess(["cards", "html", `${cwd}/run.cards.jsonl`]);
    expect(beside).toEqual({ code: 0, out: `${cwd}/run.html\n`, err: "" });
    expect(await readFile(`${cwd}/run.html`, "utf8")).toBe(renderHtmlReport(createScriptedRecording()));
    await runCliInTestProcess(["cards", "html", `${cwd}/run.cards.jsonl`, "-o", `${cwd}/page.html`]);
    expect(await readFile(`${cwd}/page.html`, "utf8")).toBe(renderHtmlReport(createScriptedRecording()));
    expect((await runCliInTestProcess(["cards", "html", `${cwd}/run.cards.jsonl`, "-o", "-"])).out).toBe(
      renderHtmlReport(createScriptedRecording()),
    );
  });

  it("reports a file that it cannot write, and reads stdin", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": createScriptedRecordFileText() });
    const nowhere = await runCliInTestProcess([
      "cards",
      "html",
      `${cwd}/run.cards.jsonl`,
      "-o",
      `${cwd}/no/page.html`,
    ]);
    expect(nowhere).toMatchObject({ code: 2, out: "" });
    expect(nowhere.err).toContain("no/page.html cannot be written");
    const stdin = Readable.from([createScriptedRecordFileText()]);
    expect((await runCliInTestProcess(["cards", "html", "-"], { stdin })).out).toBe(
      renderHtmlReport(createScriptedRecording()),
    );
  });

  it("accepts a list of message cards, too", async () => {
    const cards = JSON.stringify(createScriptedRecording().cards);
    const cwd = await createTempTestDirectoryWithFiles({ "cards.json": cards });
    const { code, out } = await runCliInTestProcess(["cards", "html", `${cwd}/cards.json`]);
    expect({ code, out }).toEqual({ code: 0, out: `${cwd}/cards.html\n` });
  });
});

describe("colloquy cards watch", () => {
  it.skipIf(isWindows)("prints the page's URL, and serves the page until it is stopped", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": createScriptedRecordFileText() });
    const cli = spawnColloquyForTest(["cards", "watch", "run.cards.jsonl", "-o", "json"], cwd);
    const output = await cli.waitForOutput("Ctrl-C stops it.");
    const { url } = JSON.parse(output.slice(0, output.indexOf("}") + 1)) as { url: string };
    expect(await (await fetch(url)).text()).toContain("<title>run.cards.jsonl · cards</title>");
    cli.child.kill("SIGINT");
    expect((await cli.result).code).toBe(0);
  });
});
