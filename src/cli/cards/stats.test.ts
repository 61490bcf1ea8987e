import { basename } from "node:path";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { type RunReport } from "../../cards/index.ts";
import {
  createScriptedRecording,
  createScriptedRecordFileText,
} from "../../cards/recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  createScriptedSamples,
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

/** A recording with one model call that no card accounts for. */
const UNBALANCED = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).replace(
  /("kind":"model".*?"input_tokens":)182/,
  (_, before: string) => `${before}282`,
);
const UNANSWERED = createScriptedRecordFileText([
  {
    ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
    steps: SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.steps.filter(({ name }) => name !== "r1"),
  },
]);

describe("cards stats", () => {
  it("reports the figures of a run, in text without color", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": createScriptedRecordFileText() });
    const { code, out, err } = await runCardsCommand(
      "stats",
      `${cwd}/run.cards.jsonl`,
      "--tariff",
      "input=3,output=15",
    );
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).not.toContain("\u001b");
    for (const line of [
      "accuracy          50.0 % (15.0–85.0)  2 of 4 by gsm8k/strict",
      "seed formulas                         turns 2.50, solver success 63.6 %, completion 50.0 %",
      "1  problems that ran out of turns           gsm8k_2",
      "price 0.0108 by the tariff",
    ])
      expect(out).toContain(line);
  });

  it("exits with 1 and lists the broken rules, also in JSON", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "tokens.jsonl": UNBALANCED,
      "reply.jsonl": UNANSWERED,
    });
    const tokens = await runCardsCommand("stats", `${cwd}/tokens.jsonl`);
    expect(tokens.code).toBe(1);
    expect(tokens.out).toMatch(/violation: gsm8k_0: planner → solver: .* tokens, but its model calls have /);
    expect(tokens.out).toContain("broken: the protocol: 1 violation, the first in gsm8k_0");
    const reply = await runCardsCommand("stats", `${cwd}/reply.jsonl`, "--json");
    expect(reply.code).toBe(1);
    const report = JSON.parse(reply.out) as RunReport;
    expect(report.broken).toEqual([
      "the protocol: 1 violation, the first in gsm8k_0: planner → solver: “Calculate 16 eggs - 3 eaten - 4 muffins” has no reply",
    ]);
    expect(report.violations).toHaveLength(1);
  });

  it("accepts a list of message cards, and lists the unknown figures", async () => {
    const list = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.map((card) => ({
      ...card,
      metadata: null,
    }));
    const cwd = await createTempTestDirectoryWithFiles({ "cards.json": JSON.stringify(list) });
    const { code, out } = await runCardsCommand("stats", `${cwd}/cards.json`);
    expect(code).toBe(0);
    expect(out).toContain("not known: which problems there were");
    expect(out).toContain("not known: replies of cards without metadata.card_id");
    // Figures from the cards themselves are available nevertheless.
    expect(out).toMatch(/cards +6 +3 task, 3 result/);
  });

  it("sums the tokens of cards that contain only a total, as in the specification", async () => {
    const list = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.map((card) => ({
      ...card,
      metadata: { tokens: 100 },
    }));
    const cwd = await createTempTestDirectoryWithFiles({ "cards.json": JSON.stringify(list) });
    const { out } = await runCardsCommand("stats", `${cwd}/cards.json`);
    expect(out).toContain("600 tokens on cards that tell only their sum\n");
  });

  it("counts reasoning tokens, which are a part of the output", async () => {
    const usage = { input_tokens: 10, output_tokens: 20, reasoning_output_tokens: 5, source: "reported" };
    const list = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards.map((card) => ({
      ...card,
      metadata: { usage },
    }));
    const cwd = await createTempTestDirectoryWithFiles({ "cards.json": JSON.stringify(list) });
    const { out } = await runCardsCommand("stats", `${cwd}/cards.json`);
    expect(out).toContain("\n30 of the output tokens are reasoning\n");
  });

  it("names the malformed lines, and refuses a malformed card of a list", async () => {
    const lines = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).split("\n");
    const wrong = lines.map((line, at) => (at === 3 || at === 5 ? line.replace(`"seq":`, `"seq":-`) : line));
    const cwd = await createTempTestDirectoryWithFiles({
      "lines.jsonl": wrong.join("\n"),
      "cards.json": `[{"sender":"planner","priority":1}]`,
    });
    const { code, out } = await runCardsCommand("stats", `${cwd}/lines.jsonl`);
    expect(code).toBe(1);
    for (const number of [4, 6]) expect(out).toContain(`lines.jsonl:${number} (model line: seq is not`);
    const { err } = await runCardsCommand("stats", `${cwd}/cards.json`);
    expect(err).toContain("card 1: ");
    expect(err).toContain("priority");
  });

  it("reads stdin, too", async () => {
    const stdin = Readable.from([createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])]);
    const { code, out } = await runCliInTestProcess(["cards", "stats", "-"], { stdin });
    expect(code).toBe(0);
    expect(out).toContain("1 of 1 by gsm8k/strict");
  });

  it("escapes control characters in model and agent output", async () => {
    const evil = createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE], {
      model: { planner: "\u001b[2Jevil", solver: "b" },
    });
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": evil });
    expect((await runCardsCommand("stats", `${cwd}/run.cards.jsonl`)).out).toContain("planner ␛[2Jevil");
  });

  it("reports that a run was killed, and its wasted tokens", async () => {
    const killed = createScriptedRecordFileText(
      [SCRIPTED_SEQUENTIAL_TASKS_SAMPLE, SCRIPTED_PARALLEL_TASKS_SAMPLE],
      { killAfterLine: 22 },
    );
    const again = createScriptedRecordFileText([SCRIPTED_PARALLEL_TASKS_SAMPLE], {
      sample_ids: ["gsm8k_0", "gsm8k_1"],
    }).replaceAll("gsm8k_1.", "gsm8k_1-again.");
    const cwd = await createTempTestDirectoryWithFiles({
      "a.jsonl": killed,
      "b.jsonl": `${killed}\n${again}`,
    });
    const first = await runCardsCommand("stats", `${cwd}/a.jsonl`);
    expect(first.out).toMatch(/problems +1 of 2 done, 1 begun; no end: killed, or still at it/);
    expect(first.out).toContain(`torn line: ${cwd}/a.jsonl:23`);
    expect(first.code).toBe(0);
    const second = await runCardsCommand("stats", `${cwd}/b.jsonl`);
    expect(second.out).toContain(
      "not counted: 5 cards and 3 calls (403 tokens) of attempts that were interrupted",
    );
    expect(second.code).toBe(0);
  });
});

describe("cards compare", () => {
  it("escapes control characters in the recordings' metadata", async () => {
    const evil = "\u001b]0;evil\u0007\u202e";
    const run = { dataset: evil, rule: evil, split: evil };
    const cwd = await createTempTestDirectoryWithFiles({
      "a.jsonl": createScriptedRecordFileText(createScriptedSamples(5), {
        ...run,
        run_id: "a",
        method: `${evil}a`,
      }),
      "b.jsonl": createScriptedRecordFileText(createScriptedSamples(5), {
        ...run,
        run_id: "b",
        method: `${evil}b`,
      }),
      "other.jsonl": createScriptedRecordFileText(createScriptedSamples(5), { run_id: "other" }),
    });
    const { code, out } = await runCardsCommand("compare", `${cwd}/a.jsonl`, `${cwd}/b.jsonl`);
    expect(code).toBe(0);
    expect(out).toContain("␛]0;evil␇");
    expect(out).not.toContain("\u001b");
    expect(out).not.toContain("\u202e");
    const refused = await runCardsCommand("compare", `${cwd}/a.jsonl`, `${cwd}/other.jsonl`);
    expect(refused.code).not.toBe(0);
    expect(refused.out + refused.err).not.toContain("\u001b");
  });

  it("compares runs", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "a.jsonl": createScriptedRecordFileText(createScriptedSamples(20), { run_id: "a" }),
      "b.jsonl": createScriptedRecordFileText(createScriptedSamples(20), { run_id: "b", mode: "parallel" }),
      "oracle.jsonl": createScriptedRecordFileText(createScriptedSamples(20), {
        run_id: "c",
        evidence: "oracle",
      }),
    });
    const { code, out } = await runCardsCommand("compare", `${cwd}/a.jsonl`, `${cwd}/b.jsonl`);
    expect(code).toBe(0);
    expect(out).toContain("gsm8k, 20 problems, evidence simulated, scored by gsm8k/strict");
    expect(out).toMatch(
      /a2a parallel +90\.0 % \(69\.9–97\.2\) +20\/20 +864\/93 +1\.00 +3\.0 +957 +1,063 +0\.0 points \(-15\.7 to \+15\.7\) +1\.000/,
    );
    expect(out).toContain("a2a chained: 20 answered\n");
    const mixed = await runCardsCommand("compare", `${cwd}/a.jsonl`, `${cwd}/oracle.jsonl`);
    expect(mixed).toMatchObject({ code: 1, out: "" });
    expect(mixed.err).toContain(
      "their evidence differs: simulated and oracle. To do: compare runs of one evidence.",
    );
    expect((await runCardsCommand("compare", `${cwd}/a.jsonl`)).err).toContain(
      "A comparison requires at least two runs.",
    );
  });

  it("names the file that is not a recording of a run", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "a.jsonl": createScriptedRecordFileText([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]),
      "cards.json": JSON.stringify(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]).cards),
    });
    const { code, err } = await runCardsCommand("compare", `${cwd}/a.jsonl`, `${cwd}/cards.json`);
    expect(code).toBe(2);
    expect(err).toContain("cards.json contains only message cards");
  });

  it("rejects an invalid tariff", async () => {
    const { code, err } = await runCardsCommand("compare", "a", "b", "--tariff", "input=3");
    expect(code).toBe(2);
    expect(err).toContain("Set a price for input and one for output.");
  });
});

describe("the files of a run", () => {
  it("are merged if several processes wrote them", async () => {
    const of = (...roles: string[]): string =>
      createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { roles });
    const cwd = await createTempTestDirectoryWithFiles({
      "all.cards.jsonl": createScriptedRecordFileText(),
      "controller.cards.jsonl": of("controller"),
      "planner.cards.jsonl": of("planner"),
      "solver.cards.jsonl": of("solver"),
    });
    const files = ["controller", "planner", "solver"].map((role) => `${cwd}/${role}.cards.jsonl`);
    const joined = JSON.parse((await runCardsCommand("stats", ...files, "--json")).out) as RunReport;
    const whole = JSON.parse(
      (await runCardsCommand("stats", `${cwd}/all.cards.jsonl`, "--json")).out,
    ) as RunReport;
    const { ends, ...rest } = joined;
    expect(ends).toHaveLength(3);
    expect(rest).toEqual({ ...rest, ...whole, ends: undefined });
  });

  it("count once, even if they are passed several times", async () => {
    const cwd = await createTempTestDirectoryWithFiles({ "run.cards.jsonl": createScriptedRecordFileText() });
    const file = `${cwd}/run.cards.jsonl`;
    const { out } = await runCardsCommand("stats", file, `${cwd}/../${basename(cwd)}/run.cards.jsonl`);
    expect(out).toBe((await runCardsCommand("stats", file)).out);
  });

  it("are rejected by name if they are missing, in another format, or of several runs", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "a.cards.jsonl": createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { run_id: "a" }),
      "b.cards.jsonl": createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { run_id: "b" }),
      "app.log": "hello\n",
    });
    const { code, err } = await runCardsCommand("stats", `${cwd}/none`);
    expect(code).toBe(1);
    expect(err).toContain(`${cwd}/none: the file does not exist. Pass a recording`);
    expect((await runCardsCommand("stats", `${cwd}/app.log`)).err).toContain(
      "app.log: no run and no message card found",
    );
    const two = await runCardsCommand("stats", `${cwd}/a.cards.jsonl`, `${cwd}/b.cards.jsonl`);
    expect(two).toMatchObject({ code: 2, err: expect.stringContaining("several runs: a, b.") as string });
  });
});
