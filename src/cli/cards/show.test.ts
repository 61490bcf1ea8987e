import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { cardsOf, generateFlowDiagram, lanesOf, svgOf, visualizeCards } from "../../cards/index.ts";
import { JANET, PARALLEL, recorded, recordedText, SCRIPTS } from "../../cards/record/record.fixture.ts";
import { directoryWith, type Ended, inProcess } from "../process.contract.ts";

const cards = (...words: string[]): Promise<Ended> => inProcess(["cards", ...words]);
const janets = cardsOf(recorded([JANET]));

async function fileWith(text: string, name = "run.cards.jsonl"): Promise<string> {
  return `${await directoryWith({ [name]: text })}/${name}`;
}

describe("cards show", () => {
  it("shows each problem as boxes below what became of it", async () => {
    const file = await fileWith(recordedText(SCRIPTS));
    const { code, out, err } = await cards("show", file, "--width", "80");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(
      out.startsWith(
        `gsm8k_0: 18, correct\n${visualizeCards(janets, { width: 80 })}\n\ngsm8k_1: 3, correct\n`,
      ),
    ).toBe(true);
    expect(out).toContain("gsm8k_2: 50000, wrong; it is 70000\n");
    expect(out).toContain("gsm8k_3: no answer, wrong; it is 540\n");
  });

  it.each([
    ["flow", generateFlowDiagram(janets)],
    ["lanes", lanesOf(janets, { width: 100 })],
    ["classic", visualizeCards(janets, { style: "classic" })],
    ["timeline", "planner │"],
    ["mermaid", "sequenceDiagram\n"],
    ["svg", svgOf(janets, { title: "Cards of gsm8k_0" })],
    ["graph", "flowchart LR\n"],
  ])("shows one problem of a run as %s", async (style, drawn) => {
    const file = await fileWith(recordedText(SCRIPTS));
    const { code, out } = await cards("show", file, "--sample", "gsm8k_0", "--style", style);
    expect(code).toBe(0);
    expect(out).toContain(drawn);
    expect(out).not.toContain("\u001b");
  });

  it("shows a plain list of cards, as the specification's files have them", async () => {
    const file = await fileWith(
      JSON.stringify(janets.map((card) => ({ ...card, metadata: null }))),
      "cards.json",
    );
    expect((await cards("show", file, "--style", "flow")).out).toBe(`${generateFlowDiagram(janets)}\n`);
  });

  it("prints the cards as JSON for programs", async () => {
    const file = await fileWith(recordedText(SCRIPTS));
    const { out } = await cards("show", file, "--sample", "gsm8k_0", "--json");
    expect(JSON.parse(out)).toEqual(janets);
  });

  it("has colours in a terminal, as wide as that, unless the user wants none", async () => {
    const file = await fileWith(recordedText([JANET]));
    const shown = async (env: Record<string, string>): Promise<string> =>
      (await inProcess(["cards", "show", file], { columns: 60, env })).out;
    expect(await shown({})).toContain(visualizeCards(janets, { width: 60, colors: true }));
    expect(await shown({ NO_COLOR: "1" })).toContain(visualizeCards(janets, { width: 60 }));
  });

  it("asks which problem a diagram is to be of, and says which there are", async () => {
    const file = await fileWith(recordedText(SCRIPTS));
    const several = await cards("show", file, "--style", "svg");
    expect(several).toMatchObject({ code: 2, out: "" });
    expect(several.err).toContain("This is drawn of one problem, and there are 4.");
    expect(several.err).toContain("--sample: gsm8k_0, gsm8k_1, gsm8k_2, gsm8k_3.");
    expect((await cards("show", file, "--sample", "gsm8k_9")).err).toContain("no card of a problem gsm8k_9");
  });
});

describe("cards export", () => {
  it.each([
    ["seed-json", (text: string) => expect(JSON.parse(text)).toEqual(cardsOf(recorded(SCRIPTS)))],
    ["perfetto", (text: string) => expect(JSON.parse(text)).toHaveProperty("traceEvents")],
    ["otlp-json", (text: string) => expect(JSON.parse(text)).toHaveProperty("resourceSpans")],
    ["traceability", (text: string) => expect(JSON.parse(text)).toHaveLength(4)],
    ["graph-mermaid", (text: string) => expect(text).toContain("flowchart LR")],
    ["graph-svg", (text: string) => expect(text).toContain("</svg>")],
  ])("writes a whole run as %s", async (form, check) => {
    const { code, out } = await cards("export", await fileWith(recordedText(SCRIPTS)), "--to", form);
    expect(code).toBe(0);
    check(out);
  });

  it("writes one problem of it, into a file too", async () => {
    const file = await fileWith(recordedText(SCRIPTS));
    const out = `${file}.svg`;
    expect(await cards("export", file, "--to", "svg", "--sample", "gsm8k_1", "--out", out)).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    expect(await readFile(out, "utf8")).toBe(svgOf(cardsOf(recorded([PARALLEL]))));
    const { err, code } = await cards(
      "export",
      file,
      "--to",
      "svg",
      "--sample",
      "gsm8k_1",
      "--out",
      `${file}/none/x.svg`,
    );
    expect(code).toBe(2);
    expect(err).toContain("cannot be written");
  });

  it("exports what cards say only when told to", async () => {
    const file = await fileWith(recordedText(SCRIPTS));
    expect((await cards("export", file, "--to", "otlp-json")).out).not.toContain("ducks");
    expect((await cards("export", file, "--to", "otlp-json", "--content")).out).toContain("ducks");
  });
});
