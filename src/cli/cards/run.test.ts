import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decodeRecording, type Recording, buildRunReport } from "../../cards/index.ts";
import { createSolver, createOracleModel, serveRoles } from "../../cards/roles/index.ts";
import { getGsm8kSlice } from "../../cards/index.ts";
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
    expect(out).toMatch(/^gsm8k test, the shipped 20 a2a chained {2}run gsm8k_a2a_oracle, /);
    expect(out).toContain("evidence                                oracle\n");
    expect(out).toMatch(/accuracy +100\.0 % \(43\.9–100\.0\) {2}3 of 3 by number\n/);
    expect(out).toContain("ledger: ok");
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
    const words = [
      "cards",
      "run",
      "--model",
      "oracle",
      "-n",
      "2",
      "--method",
      "cot",
      "--model",
      "scripted:echo",
      "--out",
      cwd,
    ];
    const tape = ["--cassette", join(cwd, "tape.jsonl")];
    expect((await runCliInTestProcess([...words, ...tape, "--run-id", "first"])).code).toBe(0);
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
    expect(out).toContain("broken: the ledger: 1 of 2 sums differ");
  });

  it.each([
    [["--dataset", "hotpotqa"], "HotpotQA is not shipped. To do: pass its file or folder (--data)"],
    [
      ["--sample", "gsm8k_99"],
      "gsm8k (test, the shipped 20) has no problem gsm8k_99. Its ids range from gsm8k_0 to gsm8k_19.",
    ],
    [["--method", "tot"], '"tot" is not a method. Use a2a, cot'],
    [["--scorer", "strict"], "Allowed choices are number, exact, f1, choice."],
    [["--model", "recorded:gpt"], "No recorded answers exist for gpt."],
    [["--model", "unknown"], "unknown"],
    [["--faults", "wrong=2"], "wrong=2 is not a fault"],
    [["--replay"], "--replay requires a cassette."],
    [["--dataset", "questions"], "The questions have no file."],
    [["--fields", "question=a"], "--fields requires a file of questions."],
    [["--fields", "text=a"], "Use the form question=prompt,answer=target"],
    [
      ["--data", "/nowhere"],
      "/nowhere: the file does not exist. To do: run `colloquy cards fetch` to see where",
    ],
    [["--max-turns", "1"], "maxTurns is 1, which leaves no turn for the answer"],
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
        'key,ask,answer\nit,"What is the capital of Italy, please?",Rome\nfr,And of France?,Paris\n',
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
    const { code, err } = await runCliInTestProcess([...words, ...data, "--repeat", "2"]);
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
      expect.stringMatching(/^q_fr,And of France\?,Paris,Rome.?,false,answered,,,\d+,\d+$/),
      "",
    ]);
  });

  it("prints where to download the datasets", async () => {
    const { out } = await runCliInTestProcess(["cards", "fetch", "here"]);
    expect(out).toContain("to    here/gsm8k/test.jsonl\n");
    expect(out).toContain("hotpotqa (CC BY-SA 4.0)\n");
    const json = JSON.parse((await runCliInTestProcess(["cards", "fetch", "--json"])).out) as {
      sources: object[];
    };
    expect(json.sources).toMatchObject([{ dataset: "gsm8k" }, { dataset: "hotpotqa" }]);
  });
});
