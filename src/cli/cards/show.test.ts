import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import {
  generateFlowDiagram,
  renderSequenceMermaid,
  renderSequenceText,
  visualizeCards,
} from "../../cards/index.ts";
import {
  createScriptedRecording,
  createScriptedRecordFileText,
} from "../../cards/recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_GSM8K_SAMPLES,
} from "../../cards/recording/scripted-samples.fixture.ts";
import {
  createTempTestDirectoryWithFiles,
  type CliTestProcessResult,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";

const runCardsCommand = (...words: string[]): Promise<CliTestProcessResult> =>
  runCliInTestProcess(["cards", ...words]);
const janetCards = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards;

async function createFile(text: string, name = "run.cards.jsonl"): Promise<string> {
  return `${await createTempTestDirectoryWithFiles({ [name]: text })}/${name}`;
}

describe("cards show", () => {
  it("shows each problem as boxes below its score", async () => {
    const file = await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES));
    const { code, out, err } = await runCardsCommand("show", file, "--width", "80");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(
      out.startsWith(
        `gsm8k_0: 18, correct\n${visualizeCards(janetCards, { width: 80 })}\n\ngsm8k_1: 3, correct\n`,
      ),
    ).toBe(true);
    expect(out).toContain("gsm8k_2: 50000, wrong; it is 70000\n");
    expect(out).toContain("gsm8k_3: no answer, wrong; it is 540\n");
  });

  it.each([
    ["flow", generateFlowDiagram(janetCards)],
    ["lanes", renderSequenceText(janetCards, { width: 100 })],
    ["classic", visualizeCards(janetCards, { style: "classic" })],
  ])("shows one problem of a run as %s", async (style, drawn) => {
    const file = await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES));
    const { code, out } = await runCardsCommand("show", file, "--sample", "gsm8k_0", "--style", style);
    expect(code).toBe(0);
    expect(out).toContain(drawn);
    expect(out).not.toContain("\u001b");
  });

  it("shows a plain list of message cards, as in the specification", async () => {
    const file = await createFile(
      JSON.stringify(janetCards.map((card) => ({ ...card, metadata: null }))),
      "cards.json",
    );
    expect((await runCardsCommand("show", file, "--style", "flow")).out).toBe(
      `${generateFlowDiagram(janetCards)}\n`,
    );
  });

  it("prints the cards as JSON for programs", async () => {
    const file = await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES));
    const { out } = await runCardsCommand("show", file, "--sample", "gsm8k_0", "--json");
    expect(JSON.parse(out)).toEqual(janetCards);
  });

  it("uses colors and the width of a terminal, unless the user disables colors", async () => {
    const file = await createFile(createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]));
    const shown = async (env: Record<string, string>): Promise<string> =>
      (await runCliInTestProcess(["cards", "show", file], { stdoutColumns: 60, env })).out;
    expect(await shown({})).toContain(visualizeCards(janetCards, { width: 60, colors: true }));
    expect(await shown({ NO_COLOR: "1" })).toContain(visualizeCards(janetCards, { width: 60 }));
  });

  it("requires one problem for a diagram, and lists the available problems", async () => {
    const file = await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES));
    const several = await runCardsCommand("export", file, "--to", "mermaid");
    expect(several).toMatchObject({ code: 2, out: "" });
    expect(several.err).toContain("This output shows a single problem, but the run has 4.");
    expect(several.err).toContain("--sample: gsm8k_0, gsm8k_1, gsm8k_2, gsm8k_3.");
    expect((await runCardsCommand("show", file, "--sample", "gsm8k_9")).err).toContain(
      "no message cards for problem gsm8k_9",
    );
  });
});

describe("cards export", () => {
  it.each([
    [
      "seed-json",
      (text: string) =>
        expect(JSON.parse(text)).toEqual(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES).cards),
    ],
  ])("writes a whole run as %s", async (form, check) => {
    const { code, out } = await runCardsCommand(
      "export",
      await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES)),
      "--to",
      form,
    );
    expect(code).toBe(0);
    check(out);
  });

  it("exports a single problem, also to a file", async () => {
    const file = await createFile(createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES));
    const out = `${file}.mmd`;
    expect(
      await runCardsCommand("export", file, "--to", "mermaid", "--sample", "gsm8k_1", "--out", out),
    ).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    expect(await readFile(out, "utf8")).toBe(
      renderSequenceMermaid(createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE]).cards),
    );
    const { err, code } = await runCardsCommand(
      "export",
      file,
      "--to",
      "mermaid",
      "--sample",
      "gsm8k_1",
      "--out",
      `${file}/none/x.mmd`,
    );
    expect(code).toBe(2);
    expect(err).toContain("cannot be written");
  });
});
