import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeRecording, type Recording, buildRunReport, getGsm8kSlice } from "../../cards/index.ts";
import { createSolver, createOracleModel, serveRoles } from "../../cards/roles/index.ts";
import {
  answerLikeAnyRole,
  startFakeModelServer,
} from "../../cards/roles/models/fake-model-server.fixture.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";

interface CardsRunOutput {
  runs: {
    runId: string;
    status: string;
    file: string;
    seedFile?: string;
    report: ReturnType<typeof buildRunReport>;
  }[];
  comparison?: { rows: { name: string }[] };
}

interface FaultyProblem {
  history: { role: string; type: string }[];
  mistake_agent: string;
  mistake_step: number;
  mistake_reason: string;
  faults: { step: number }[];
}

async function exportFaultyProblems(file: string): Promise<FaultyProblem[]> {
  const { out } = await runCliInTestProcess(["cards", "export", file, "--to", "who-and-when"]);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as FaultyProblem);
}

interface InspectLog {
  samples: {
    messages: { content: string }[];
    events: unknown[];
    scores: Record<string, { value: unknown }>;
  }[];
  stats: { model_usage: Record<string, { total_tokens: number }> };
}

function readRecording(file: string): Recording {
  return decodeRecording(readFileSync(file, "utf8"), file);
}

describe("colloquy cards run", () => {
  it("solves problems, reports the results, and writes a recording and a list of message cards", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, out, err } = await runCliInTestProcess([
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "3",
      "--out",
      `${cwd}/results`,
    ]);
    expect(code).toBe(0);
    expect(out).toMatch(/^gsm8k test, the shipped 20 a2a {2}run gsm8k_a2a_oracle, /);
    expect(out).toMatch(/^evidence +oracle$/m);
    expect(out).toMatch(/accuracy +100\.0 % \(43\.9–100\.0\) {2}3 of 3 by number\n/);
    expect(err.split("\n").slice(-4)).toEqual([
      `record: ${cwd}/results/gsm8k_a2a_oracle.cards.jsonl`,
      `cards: ${cwd}/results/gsm8k_a2a_oracle_cards.json`,
      `look at it: colloquy cards show ${cwd}/results/gsm8k_a2a_oracle.cards.jsonl --sample gsm8k_0`,
      "",
    ]);
    expect(JSON.parse(readFileSync(`${cwd}/results/gsm8k_a2a_oracle_cards.json`, "utf8"))).toHaveLength(18);
    const again = await runCliInTestProcess([
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "3",
      "--out",
      `${cwd}/results`,
    ]);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining("pass resume (--resume)") as string,
    });
  });

  it("runs several methods on the same problems, and compares them", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = [
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "4",
      "--method",
      "cot,a2a,direct",
      "--out",
      cwd,
      "--json",
    ];
    const { code, out } = await runCliInTestProcess(words);
    expect(code).toBe(0);
    const { runs, comparison } = JSON.parse(out) as CardsRunOutput;
    expect(runs.map(({ runId, status }) => [runId, status])).toEqual([
      ["gsm8k_cot_oracle", "completed"],
      ["gsm8k_a2a_oracle", "completed"],
      ["gsm8k_direct_oracle", "completed"],
    ]);
    expect(comparison?.rows).toHaveLength(3);
  });

  it("resumes after kill -9 without repeating or losing a problem", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = [
      "cards",
      "run",
      "--model",
      "oracle",
      "--faults",
      "slow=1:5",
      "--concurrency",
      "3",
      "--out",
      cwd,
      "--run-id",
      "k",
    ];
    const file = join(cwd, "k.cards.jsonl");
    for (const part of ["4/20", "10/20"]) {
      const cli = spawnColloquyForTest([...words, "--resume"], cwd, { COLLOQUY_DATA: "" });
      await cli.waitForOutput(part);
      cli.child.kill("SIGKILL");
      await cli.result;
      const { scores } = readRecording(file);
      expect(scores.length).toBeGreaterThanOrEqual(Number(part.split("/")[0]));
      expect(scores.length).toBeLessThan(20);
    }
    const { code } = await spawnColloquyForTest([...words, "--resume"], cwd, { COLLOQUY_DATA: "" }).result;
    expect(code).toBe(0);
    const text = readFileSync(file, "utf8");
    const scored = [...text.matchAll(/"kind":"score".*?"sample_id":"(\w+)"/g)].map(([, id]) => id);
    expect(scored).toHaveLength(20);
    expect(new Set(scored)).toEqual(new Set(getGsm8kSlice().map(({ id }) => id)));
    expect(readRecording(file).cards).toHaveLength(120);
    expect(buildRunReport(readRecording(file))).toMatchObject({ broken: [], samples: { done: 20 } });
    expect(existsSync(join(cwd, "k_cards.json"))).toBe(true);
  }, 60_000);

  it("uses a solver on another server, and reports when it is unreachable", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const model = createOracleModel(getGsm8kSlice());
    const solver = await serveRoles({ roles: { solver: { role: createSolver(), model } } });
    const words = [
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "2",
      "--solver",
      solver.urls["solver"] ?? "",
      "--out",
      cwd,
      "--run-id",
    ];
    expect((await runCliInTestProcess([...words, "there"])).code).toBe(0);
    await solver.close({ graceMs: 0 });
    const gone = await runCliInTestProcess([...words, "gone"]);
    // The planner is running and completes without the solver. Such a run does not measure how well the two
    // solve problems together.
    expect(gone.code).toBe(3);
    expect(gone.err).toContain("have no verdict: The card could not be delivered to solver");
    const { cards, scores } = readRecording(join(cwd, "gone.cards.jsonl"));
    expect(scores).toEqual([]);
    expect(cards.some(({ metadata }) => metadata["error_type"] === "transport_error")).toBe(true);
  });

  it("records a model's answers on a cassette, and replays them without the model", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer(answerLikeAnyRole);
    const words = ["cards", "run", "-n", "2", "--method", "cot", "--model", "llama", "--out", cwd];
    const tape = ["--cassette", join(cwd, "tape.jsonl")];
    const recorded = [...words, ...tape, "--base-url", server.baseUrl, "--run-id", "first"];
    expect((await runCliInTestProcess(recorded)).code).toBe(0);
    expect((await runCliInTestProcess([...words, ...tape, "--replay", "--run-id", "second"])).code).toBe(0);
    // Two problems run concurrently, so the order of their cards is random.
    const [first, second] = ["first", "second"].map((id) =>
      readRecording(join(cwd, `${id}.cards.jsonl`))
        .cards.map(({ content }) => content)
        .toSorted(),
    );
    expect(second).toEqual(first);
    const missing = await runCliInTestProcess([
      ...words,
      ...tape,
      "--replay",
      "-n",
      "3",
      "--run-id",
      "third",
    ]);
    expect(missing.code).toBe(3);
    expect(missing.err).toContain("have no verdict");
  });

  it("calls any OpenAI-compatible server, and reports a problem that the server rejects", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer((request) =>
      request.prompt.includes("bolts of blue fiber")
        ? { status: 400, error: "content filter" }
        : answerLikeAnyRole(request),
    );
    const words = ["cards", "run", "-n", "2", "--model", "llama", "--base-url", server.baseUrl, "--out", cwd];
    const env = { MY_KEY: "secret" };
    const key = ["--api-key-env", "MY_KEY"];
    const failed = await runCliInTestProcess([...words, ...key], { env });
    expect(failed.code).toBe(3);
    expect(failed.err).toContain(`gsm8k_1: not scored: The model failed: ${server.baseUrl}/chat/completions`);
    expect(failed.err).toContain("(gsm8k_1) have no verdict: The model failed:");
    expect(failed.err).toContain("--on-error wrong");
    expect(failed.out + failed.err).not.toContain("secret");
    expect(server.requests[0]).toMatchObject({ authorization: "Bearer secret", body: { model: "llama" } });
    const ended = await runCliInTestProcess([...words, "--resume", "--on-error", "wrong"]);
    expect(ended.code).toBe(0);
    expect(ended.out).toContain("1 problem wrong because of an error");
    expect(server.requests.at(-1)?.authorization).toBeUndefined();
    const unset = await runCliInTestProcess([...words, ...key, "--run-id", "other"]);
    expect(unset).toMatchObject({ code: 2, err: expect.stringContaining("MY_KEY is not set") as string });
  });

  it("names the remedy for an unknown model, and no option that cannot help", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer(() => ({ status: 404, error: "no such model" }));
    const model = ["--model", "llama", "--base-url", server.baseUrl];
    const { code, err } = await runCliInTestProcess(["cards", "run", "-n", "2", ...model, "--out", cwd]);
    expect(code).toBe(3);
    expect(err).toContain("Correct the name of the model, the API key, or the URL");
    expect(err).not.toContain("--on-error");
  });

  it("adds members to the requests of a model server, and replaces prompts", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "prompts.json": '{"answerer":"Answer like a pirate."}',
      "wrong.json": '{"pirate":"Arr"}',
      "planner.json": '{"planner":"Plan like a pirate."}',
    });
    const server = await startFakeModelServer(answerLikeAnyRole);
    const words = ["cards", "run", "-n", "1", "--method", "cot", "--model", "m", "--out", cwd];
    const url = ["--base-url", server.baseUrl];
    const extra = ["--extra-body", '{"max_tokens":null,"max_completion_tokens":500}'];
    const prompts = ["--prompts", join(cwd, "prompts.json"), "--run-id", "pirate"];
    expect(await runCliInTestProcess([...words, ...url])).toMatchObject({ code: 0 });
    expect(await runCliInTestProcess([...words, ...url, ...extra, ...prompts])).toMatchObject({ code: 0 });
    const [plain, changed] = server.requests;
    expect(plain?.body).toMatchObject({ max_tokens: 2_048 });
    expect(changed?.body).toMatchObject({ max_completion_tokens: 500 });
    expect(changed?.body).not.toHaveProperty("max_tokens");
    expect(changed?.prompt).toMatch(/^Answer like a pirate\.\n/);
    const runs = ["gsm8k_cot_m", "pirate"].map((id) => readRecording(join(cwd, `${id}.cards.jsonl`)).run);
    expect(runs[1]?.options).toEqual({ answerer: { instructions: "Answer like a pirate." } });
    expect(runs[1]?.prompts_sha256).not.toBe(runs[0]?.prompts_sha256);
    for (const [option, problem] of [
      [extra, "--extra-body requires a server."],
      [["--extra-body", "[]"], "It must be a JSON object"],
      [["--prompts", join(cwd, "wrong.json")], "texts for planner, solver, and answerer"],
      [["--prompts", join(cwd, "none.json")], "cannot be read"],
      [["--token-budget", "500"], "--token-budget limits only the method a2a."],
      [["--token-budget", "500", "--method", "a2a,cot"], "--token-budget has no effect on the method cot."],
      [["--budget", "money=1"], "Use the form tokens=200000,cost=2.50."],
      [["--budget", "cost=1"], "--tariff"],
      [["--prompts", join(cwd, "planner.json")], "the run has no planner"],
    ] as const)
      expect(
        await runCliInTestProcess([...words, ...option, ...(problem.includes("server") ? [] : url)]),
      ).toMatchObject({
        code: 2,
        err: expect.stringContaining(problem) as string,
      });
  });

  it("names a larger budget as the remedy of a run that has spent its budget", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer(answerLikeAnyRole);
    const model = ["--model", "m", "--base-url", server.baseUrl, "--budget", "tokens=1"];
    const { code, err } = await runCliInTestProcess(["cards", "run", "-n", "2", ...model, "--out", cwd]);
    expect(code).toBe(3);
    expect(err).toContain("the run has spent its budget");
    expect(err).toContain("Run the command again with --resume and a larger --budget.");
    expect(err).not.toContain("--on-error");
  });

  it("injects no faults into the judge of the answers", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer(({ prompt }) => ({
      text: prompt.includes("INCORRECT") ? "CORRECT" : "Answer: 18",
    }));
    const model = ["--method", "cot", "--model", "m", "--base-url", server.baseUrl];
    const judged = ["--faults", "wrong=1", "--scorer", "judge:j", "--json"];
    const { out } = await runCliInTestProcess(["cards", "run", "-n", "2", ...model, ...judged, "--out", cwd]);
    const { runs } = JSON.parse(out) as CardsRunOutput;
    expect(runs[0]?.report.measures).toEqual({ judge_undecided: 0 });
  });

  it("compares models of several servers, with a scorer of a file, in one command", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "score.mjs":
        "export default ({ predicted, gold, question }) => ({ correct: predicted === gold, measures: { long: question.length > 9 ? 1 : 0 } });",
      "wrong.mjs": "export default () => 1;",
      "none.mjs": "export const score = 1;",
      "text.mjs": "export default () => ({ correct: true, measures: { f1: '0.5' } });",
    });
    const [right, wrong] = [
      await startFakeModelServer(() => ({ text: "Answer: 18" })),
      await startFakeModelServer(() => ({ text: "Answer: 17" })),
    ];
    const words = ["cards", "run", "-n", "1", "--method", "direct,debate@2", "--out", cwd];
    const model = ["--model", `big@${right.baseUrl},small@${wrong.baseUrl}`];
    const { code, out } = await runCliInTestProcess([
      ...words,
      ...model,
      "--scorer",
      join(cwd, "score.mjs"),
      "--json",
    ]);
    expect(code).toBe(0);
    const { runs, comparison } = JSON.parse(out) as CardsRunOutput;
    expect(runs.map(({ runId, report }) => [runId, report.accuracy?.value])).toEqual([
      ["gsm8k_direct_big", 1],
      ["gsm8k_debate_2_big", 1],
      ["gsm8k_direct_small", 0],
      ["gsm8k_debate_2_small", 0],
    ]);
    expect(runs[0]?.report).toMatchObject({ run: { rule: "score.mjs", servers: { solver: right.baseUrl } } });
    expect(comparison?.rows).toHaveLength(4);
    // A debate of two has two rounds.
    expect(right.requests).toHaveLength(5);
    for (const [scorer, problem] of [
      ["wrong.mjs", "returned no score"],
      ["text.mjs", "returned no score"],
      ["none.mjs", "has no default export"],
      ["missing.mjs", "cannot be loaded"],
      ["regex", "is not a scorer"],
    ] as const) {
      const name = scorer.includes(".") ? join(cwd, scorer) : scorer;
      const failed = await runCliInTestProcess([...words, ...model, "--scorer", name, "--run-id", scorer]);
      expect(failed.code).not.toBe(0);
      expect(failed.err).toContain(problem);
    }
  });

  it("gives the runs of one model name on two servers different ids", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const [one, two] = [
      await startFakeModelServer(() => ({ text: "Answer: 18" })),
      await startFakeModelServer(() => ({ text: "Answer: 17" })),
    ];
    const words = ["cards", "run", "-n", "1", "--method", "direct", "--out", cwd, "--json"];
    const model = `m@${one.baseUrl},m@${two.baseUrl}`;
    const { code, out, err } = await runCliInTestProcess([...words, "--model", model]);
    expect({ code, err }).toMatchObject({ code: 0 });
    const { runs } = JSON.parse(out) as CardsRunOutput;
    expect(runs.map(({ report }) => report.accuracy?.value)).toEqual([1, 0]);
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(2);
  });

  it("exports the faults that were injected, with the role and the step of each", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["cards", "run", "--model", "oracle", "-n", "3", "--faults", "wrong=1", "--run-id", "f"];
    await runCliInTestProcess([...words, "--out", cwd]);
    const file = join(cwd, "f.cards.jsonl");
    const problems = await exportFaultyProblems(file);
    expect(problems).toHaveLength(3);
    for (const { history, mistake_agent, mistake_step, mistake_reason, faults } of problems) {
      expect({ mistake_agent, mistake_reason }).toEqual({ mistake_agent: "solver", mistake_reason: "wrong" });
      const steps = history.flatMap(({ role, type }, step) =>
        role === "solver" && type === "result" ? [step] : [],
      );
      expect(mistake_step).toBe(steps[0]);
      expect(faults.map(({ step }) => step)).toEqual(steps);
    }
  });

  it("exports the mean of a measure over the problems with the measure", async () => {
    const code =
      "export default ({ gold }) => ({ correct: true, measures: gold === '18' ? { short: 1 } : {} });";
    const cwd = await createTempTestDirectoryWithFiles({ "score.mjs": code });
    const words = ["cards", "run", "--model", "oracle", "-n", "2", "--run-id", "m", "--out", cwd];
    await runCliInTestProcess([...words, "--scorer", join(cwd, "score.mjs")]);
    const file = join(cwd, "m.cards.jsonl");
    const { out } = await runCliInTestProcess(["cards", "export", file, "--to", "inspect"]);
    expect(JSON.parse(out)).toMatchObject({
      results: { scores: [{ name: "answer" }, { name: "short", metrics: { mean: { value: 1 } } }] },
    });
  });

  it("exports no delay as a mistake", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["cards", "run", "--model", "oracle", "-n", "3", "--run-id", "f", "--out", cwd];
    await runCliInTestProcess([...words, "--faults", "wrong=0.4,slow=1:1"]);
    const file = join(cwd, "f.cards.jsonl");
    const problems = await exportFaultyProblems(file);
    const wrong = readRecording(file).calls.filter(({ line }) => line.injected_faults?.includes("wrong"));
    expect(wrong.length).toBeGreaterThan(0);
    expect(problems.map(({ mistake_reason }) => mistake_reason)).toEqual(problems.map(() => "wrong"));
  });

  it("exports a log for Inspect AI with the same counts, scores, and tokens", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    await runCliInTestProcess([
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "3",
      "--run-id",
      "i",
      "--out",
      cwd,
    ]);
    const file = join(cwd, "i.cards.jsonl");
    const { cards, calls } = readRecording(file);
    const { out } = await runCliInTestProcess(["cards", "export", file, "--to", "inspect"]);
    const log = JSON.parse(out) as InspectLog;
    expect(log).toMatchObject({
      version: 2,
      status: "success",
      eval: { task: "gsm8k/a2a", model: "oracle", dataset: { samples: 3 }, metadata: { evidence: "oracle" } },
      results: {
        total_samples: 3,
        completed_samples: 3,
        scores: [{ name: "answer", metrics: { accuracy: { value: 1 } } }],
      },
    });
    expect(log.samples.flatMap(({ messages }) => messages.map(({ content }) => content)).toSorted()).toEqual(
      cards.map(({ content }) => content).toSorted(),
    );
    expect(log.samples.flatMap(({ events }) => events)).toHaveLength(calls.length);
    expect(log.samples.map(({ scores }) => scores["answer"]?.value)).toEqual(["C", "C", "C"]);
    const sum = calls.reduce((total, { usage }) => total + usage.input_tokens + usage.output_tokens, 0);
    expect(log.stats.model_usage["oracle"]?.total_tokens).toBe(sum);
  });

  it("marks prices and token sums of roles that depend on unknown tokens", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const server = await startFakeModelServer((request) => ({
      ...answerLikeAnyRole(request),
      ...(request.action === undefined && { usage: "none" }),
    }));
    const model = ["--model", "llama", "--base-url", server.baseUrl];
    const { code } = await runCliInTestProcess(["cards", "run", "-n", "1", ...model, "--out", cwd]);
    expect(code).toBe(0);
    const file = join(cwd, "gsm8k_a2a_llama.cards.jsonl");
    const { out } = await runCliInTestProcess(["cards", "stats", file, "--tariff", "input=3,output=15"]);
    expect(out).toMatch(/price ≥ 0\.\d+ by the tariff/);
    expect(out).toMatch(/^solver +1 +\d+ +≥ /m);
  });

  it("keeps the evidence kind of an oracle when its cassette is replayed", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = [
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "1",
      "--out",
      cwd,
      "--cassette",
      join(cwd, "tape.jsonl"),
    ];
    await runCliInTestProcess([...words, "--run-id", "first"]);
    await runCliInTestProcess([...words, "--replay", "--run-id", "second"]);
    expect(readRecording(join(cwd, "second.cards.jsonl")).run?.evidence).toBe("oracle");
  });

  it("fails if the tokens on the cards differ from those of the calls", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["cards", "run", "--model", "oracle", "-n", "1", "--out", cwd, "--run-id", "r"];
    expect((await runCliInTestProcess(words)).code).toBe(0);
    const file = join(cwd, "r.cards.jsonl");
    const text = readFileSync(file, "utf8");
    writeFileSync(
      file,
      text.replace(/("kind":"model".*?)"finish_reason"/, '$1"input_tokens":100,"finish_reason"'),
    );
    const { code, out } = await runCliInTestProcess([...words, "--resume"]);
    expect(code).toBe(1);
    expect(out).toContain("broken: the protocol: 1 violation");
  });

  it.each([
    [["--dataset", "hotpotqa"], "HotpotQA is not shipped. To do: pass its file or folder (--data)"],
    [
      ["--sample", "gsm8k_99"],
      "gsm8k (test, the shipped 20) has no problem gsm8k_99. Its ids range from gsm8k_0 to gsm8k_19.",
    ],
    [["--method", "tot"], '"tot" is not a method. Use a2a, cot'],
    [["--scorer", "strict"], "strict is not a scorer."],
    [["--model", "unknown"], "unknown"],
    [["--faults", "wrong=2"], "wrong=2 is not a fault"],
    [["--replay"], "--replay requires a cassette."],
    [["--dataset", "questions"], "The questions have no file."],
    [["--fields", "question=a"], "--fields requires a file of questions."],
    [["--fields", "text=a"], "Use the form question=prompt,answer=target"],
    [
      ["--data", "/nowhere"],
      "/nowhere: the file does not exist. To do: see docs/card-experiments.md for the addresses",
    ],
    [["--max-turns", "1"], "maxTurns is 1. Set it to an integer of at least 2"],
  ])("with %j says what is wrong", async (words, message) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, err } = await runCliInTestProcess([
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "1",
      "--out",
      cwd,
      ...words,
    ]);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });

  it.each([
    ["without a model", []],
    ["with a server, but without its model", ["--base-url", "http://127.0.0.1:9/v1"]],
    ["with a remote planner, but without the model of its solver", ["--planner", "http://127.0.0.1:9"]],
  ])("does not replace a missing model by the oracle: %s", async (_, words) => {
    const cwd = await createTempTestDirectoryWithFiles({});
    const { code, err } = await runCliInTestProcess(["cards", "run", "-n", "1", "--out", cwd, ...words]);
    expect(code).toBe(2);
    expect(err).toContain("Pass --model with the name of a model, or --model oracle");
  });

  it("hints at the cause if no problem has an answer", async () => {
    const server = await startFakeModelServer(() => ({ text: "The answer is 2." }));
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["cards", "run", "-n", "2", "--model", "weak", "--base-url", server.baseUrl, "--out", cwd];
    const { code, out, err } = await runCliInTestProcess(words);
    expect(code).toBe(0);
    expect(out).toMatch(/outcomes +2 invalid_action\n/);
    expect(err).toContain("the model does not follow the action format; use a server that enforces");
  });

  it("labels the first run with a cassette as live, and a run that replays it as recorded", async () => {
    const server = await startFakeModelServer(answerLikeAnyRole);
    const cwd = await createTempTestDirectoryWithFiles({});
    const words = ["cards", "run", "-n", "2", "--method", "cot", "--out", cwd];
    const model = ["--model", "llama", "--base-url", server.baseUrl];
    const cassette = ["--cassette", join(cwd, "tape.jsonl")];
    const run = (id: string, options: string[]) =>
      runCliInTestProcess([...words, ...model, ...options, "--run-id", id]);
    await run("plain", []);
    await run("first", cassette);
    await run("second", cassette);
    const files = ["plain", "first", "second"].map((id) => join(cwd, `${id}.cards.jsonl`));
    expect(files.map((file) => readRecording(file).run?.evidence)).toEqual([
      "live-model",
      "live-model",
      "recorded-model",
    ]);
    expect((await runCliInTestProcess(["cards", "compare", ...files])).code).toBe(0);
  });

  it("scores a recording again without a model, and never overwrites a file", async () => {
    const cwd = await createTempTestDirectoryWithFiles({});
    await runCliInTestProcess([
      "cards",
      "run",
      "-n",
      "3",
      "--model",
      "oracle",
      "--out",
      cwd,
      "--run-id",
      "r",
    ]);
    const words = ["cards", "score", join(cwd, "r.cards.jsonl"), "--scorer", "exact"];
    const { code, out, err } = await runCliInTestProcess(words);
    expect({ code, err }).toEqual({ code: 0, err: `record: ${cwd}/r-exact.cards.jsonl\n` });
    expect(out).toMatch(/^number +100\.0 % .* 3 answered\nexact +100\.0 % /);
    const recording = readRecording(join(cwd, "r-exact.cards.jsonl"));
    expect(buildRunReport(recording)).toMatchObject({
      broken: [],
      run: { rule: "exact" },
      samples: { done: 3 },
    });
    expect(await runCliInTestProcess(words)).toMatchObject({
      code: 2,
      err: expect.stringContaining("r-exact.cards.jsonl exists.") as string,
    });
  });

  it("solves the questions of a CSV file with several seeds, and exports one line per problem", async () => {
    const cwd = await createTempTestDirectoryWithFiles({
      "capitals.csv":
        'key,ask,answer\nit,"What is the capital of Italy, please?",Rome\n프랑스,And of France?,Paris\n',
    });
    const server = await startFakeModelServer(() => ({ text: "The answer is Rome." }));
    const words = [
      "cards",
      "run",
      "--method",
      "cot",
      "--model",
      "m",
      "--base-url",
      server.baseUrl,
      "--out",
      cwd,
    ];
    const data = [
      "--dataset",
      "questions",
      "--data",
      join(cwd, "capitals.csv"),
      "--fields",
      "question=ask,id=key",
    ];
    const { code, out, err } = await runCliInTestProcess([...words, ...data, "--repeat", "2"]);
    expect(out).toMatch(/^all seeds +runs +accuracy \(95 %\) +difference \(95 %\)\ncot +2 +50\.0 % \(/m);
    expect({ code, runs: err.match(/record: .*/g) }).toEqual({
      code: 0,
      runs: [1, 2].map((seed) => `record: ${cwd}/capitals_cot_m_seed${seed}.cards.jsonl`),
    });
    expect(new Set(server.requests.map(({ body }) => body.seed))).toEqual(new Set([1, 2]));
    const file = join(cwd, "capitals_cot_m_seed2.cards.jsonl");
    expect(readRecording(file).run).toMatchObject({
      dataset: "capitals",
      split: "capitals.csv",
      rule: "f1",
      seed: 2,
    });
    const csv = await runCliInTestProcess(["cards", "export", file, "--to", "csv"]);
    expect(csv.out.split("\r\n")).toEqual([
      "sample_id,question,gold,predicted,correct,outcome,error,turns,input_tokens,output_tokens",
      expect.stringMatching(
        /^q_it,"What is the capital of Italy, please\?",Rome,Rome.?,true,answered,,,\d+,\d+$/,
      ),
      expect.stringMatching(/^q_프랑스,And of France\?,Paris,Rome.?,false,answered,,,\d+,\d+$/),
      "",
    ]);
  });
});
