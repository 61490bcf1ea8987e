import { readFile } from "node:fs/promises";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { htmlOf } from "../../cards/index.ts";
import { recorded, recordedText } from "../../cards/record/record.fixture.ts";
import { colloquy, directoryWith, inProcess } from "../process.contract.ts";

describe("colloquy cards html", () => {
  it("puts the page beside the record, or where it is told to", async () => {
    const cwd = await directoryWith({ "run.cards.jsonl": recordedText() });
    const beside = await inProcess(["cards", "html", `${cwd}/run.cards.jsonl`]);
    expect(beside).toEqual({ code: 0, out: `${cwd}/run.html\n`, err: "" });
    expect(await readFile(`${cwd}/run.html`, "utf8")).toBe(htmlOf(recorded()));
    await inProcess(["cards", "html", `${cwd}/run.cards.jsonl`, "-o", `${cwd}/page.html`]);
    expect(await readFile(`${cwd}/page.html`, "utf8")).toBe(htmlOf(recorded()));
    expect((await inProcess(["cards", "html", `${cwd}/run.cards.jsonl`, "-o", "-"])).out).toBe(
      htmlOf(recorded()),
    );
  });

  it("says where it cannot write, and reads stdin", async () => {
    const cwd = await directoryWith({ "run.cards.jsonl": recordedText() });
    const nowhere = await inProcess(["cards", "html", `${cwd}/run.cards.jsonl`, "-o", `${cwd}/no/page.html`]);
    expect(nowhere).toMatchObject({ code: 2, out: "" });
    expect(nowhere.err).toContain("no/page.html cannot be written");
    const stdin = Readable.from([recordedText()]);
    expect((await inProcess(["cards", "html", "-"], { stdin })).out).toBe(htmlOf(recorded()));
  });

  it("makes one of a list of cards, too", async () => {
    const cards = JSON.stringify(recorded().cards.map(({ card }) => card));
    const cwd = await directoryWith({ "cards.json": cards });
    const { code, out } = await inProcess(["cards", "html", `${cwd}/cards.json`]);
    expect({ code, out }).toEqual({ code: 0, out: `${cwd}/cards.html\n` });
  });
});

describe("colloquy cards watch", () => {
  it("prints where the page is, and serves it until it is stopped", async () => {
    const cwd = await directoryWith({ "run.cards.jsonl": recordedText() });
    const cli = colloquy(["cards", "watch", "run.cards.jsonl", "-o", "json"], cwd);
    const said = await cli.says("Ctrl-C stops.");
    const { url } = JSON.parse(said.slice(0, said.indexOf("}") + 1)) as { url: string };
    expect(await (await fetch(url)).text()).toContain("<title>run.cards.jsonl · cards</title>");
    cli.child.kill("SIGINT");
    expect((await cli.ended).code).toBe(0);
  });
});
