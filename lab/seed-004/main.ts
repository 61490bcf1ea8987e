/**
 * `npm run lab -- seed-004` checks each section of the original card specification, and prints a table with what was
 * seen. The exit code is 1 if a section does not work.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createHangingModel } from "../../src/cards/roles/models/hanging-model.fixture.ts";
import {
  PYTHON_CARD_STATISTICS_SNIPPET,
  PYTHON_SUCCESS_RATE_SNIPPET,
} from "../../src/cards/experiments/recorder/specification-python-snippets.fixture.ts";
import { SPECIFICATION_EXAMPLES } from "../../src/cards/message-card/specification-examples.fixture.ts";
import {
  A2ACardProtocol,
  A2AVisualizer,
  buildComparisonReport,
  buildRunReport,
  createCardProtocol,
  createController,
  decodeMessageCardArray,
  defineCardType,
  type ExperimentOptions,
  type ExperimentOutcome,
  generateFlowDiagram,
  getGsm8kSlice,
  type MessageCard,
  type ModelReply,
  type ModelRequest,
  renderSequenceMermaid,
  renderSequenceText,
  type Role,
  type RoleModel,
  rules,
  runExperiment,
  serveRoles,
  toDict,
  toJson,
  visualizeCards,
} from "../../src/entries/cards.ts";
import { createScriptedModel } from "../../src/cards/roles/index.ts";

interface Section {
  readonly name: string;
  /** Checks the section, and returns what was seen. */
  readonly check: () => string | Promise<string>;
}

const folder = mkdtempSync(join(tmpdir(), "colloquy-seed-004-"));
const hasPython = spawnSync("python3", ["--version"]).status === 0;
const action = (value: object): string => JSON.stringify(value);
const USAGE = { input_tokens: 100, output_tokens: 20, source: "reported" } as const;

const reply = (text: string): ModelReply => ({ text, finish: "stop", usage: USAGE });

/** Creates the model of a dialogue: the planner's subtasks, the solver's answers, and the final answer. */
function createDialogueModel(
  steps: readonly (readonly [subtask: string, answer: string])[],
  final: string,
  id = "claude",
): RoleModel {
  const answers = new Map(steps);
  return createScriptedModel(
    ({ input }: ModelRequest): ModelReply => {
      if (input.kind === "answer") return reply(`Answer: ${final}`);
      if (input.kind === "solve") return reply(answers.get(input.task.content) ?? "Not found");
      const next = steps[input.findings.length];
      return reply(
        action(
          next ? { action: "call_solver", subtask: next[0] } : { action: "final_answer", answer: final },
        ),
      );
    },
    { id },
  );
}

const DUCKS = createDialogueModel(
  [
    ["Calculate 16 eggs - 3 eaten - 4 muffins", "9"],
    ["Calculate daily income: 9 eggs * $2", "$18"],
  ],
  "18",
);
const INCEPTION = createDialogueModel(
  [
    ["Find who directed the movie Inception", "Christopher Nolan"],
    ["Find Christopher Nolan's birthplace", "Westminster, London, England"],
  ],
  "Westminster, London, England",
);

const GSM8K = { name: "gsm8k", split: "Janet's ducks", samples: getGsm8kSlice().slice(0, 1) } as const;
const HOTPOTQA = {
  name: "hotpotqa",
  split: "Inception",
  samples: [
    {
      dataset: "hotpotqa",
      id: "hotpotqa_0",
      question: "What is the birthplace of the director of Inception?",
      gold: "Westminster, London, England",
      paragraphs: [],
    },
  ],
} as const;

let runs = 0;
const run = (options: Partial<ExperimentOptions> = {}): Promise<ExperimentOutcome> =>
  runExperiment({
    dataset: GSM8K,
    model: DUCKS,
    outputFolder: join(folder, String((runs += 1))),
    ...options,
  });
const listCards = ({ recording }: ExperimentOutcome): readonly MessageCard[] => recording.cards;
const listContents = (outcome: ExperimentOutcome): string[] =>
  listCards(outcome).map(({ content }) => content);

const ducks = await run({ outputFolder: join(folder, "results") });
const inception = await run({ dataset: HOTPOTQA, model: INCEPTION });
const FLOW_DIAGRAM = `1. CONTROLLER    → [TASK]    PLANNER
2. PLANNER       → [TASK]    SOLVER
3. SOLVER        ← [RESULT]  PLANNER
4. PLANNER       → [TASK]    SOLVER
5. SOLVER        ← [RESULT]  PLANNER
6. PLANNER       ← [RESULT]  CONTROLLER`;
const { CONTROLLER, PLANNER, SOLVER } = A2ACardProtocol;

/** Runs the scripts of the specification, unchanged, on a run with 200 problems, and returns their output. */
async function runPythonScripts(): Promise<string[]> {
  const samples = Array.from({ length: 200 }, (_, index) => ({ ...GSM8K.samples[0], id: `gsm8k_${index}` }));
  const cwd = join(folder, "python");
  await run({
    dataset: { ...GSM8K, samples: samples as never },
    outputFolder: join(cwd, "results"),
    serverLayout: "together",
  });
  const program = PYTHON_CARD_STATISTICS_SNIPPET + PYTHON_SUCCESS_RATE_SNIPPET;
  return execFileSync("python3", ["-c", program], { cwd, encoding: "utf8" }).trimEnd().split("\n");
}
const python = hasPython ? await runPythonScripts() : [];

/** Creates a role that answers 18, or returns the answer of the next role. */
const createAnsweringRole = (name: string, next?: string): Role => ({
  name,
  description: name,
  performTask: async (context) => {
    const reply = next && (await context.delegate({ to: next, task: context.task.content }));
    return { result: reply ? reply.content : "18", status: "completed" };
  },
});

const SECTIONS: readonly Section[] = [
  {
    name: "A2ACard, six members, order",
    check: () => {
      for (const example of SPECIFICATION_EXAMPLES) {
        const card = A2ACardProtocol.fromJson(JSON.stringify(example));
        assert.equal(toJson(card), JSON.stringify(example));
      }
      return `${SPECIFICATION_EXAMPLES.length} of ${SPECIFICATION_EXAMPLES.length} JSON blocks are equal after parsing`;
    },
  },
  {
    name: "TaskCard {dataset, context}",
    check: () => {
      const card = A2ACardProtocol.createTaskCard({
        from: CONTROLLER,
        to: PLANNER,
        task: "Solve this problem",
        context: { dataset: "gsm8k" },
      });
      assert.deepEqual(card.metadata.context, { dataset: "gsm8k" });
      return "context is metadata.context";
    },
  },
  {
    name: "ResultCard, 4 statuses",
    check: () => {
      for (const status of ["success", "completed", "error", "partial"] as const)
        A2ACardProtocol.createResultCard({ from: SOLVER, to: PLANNER, result: "42", status });
      const weird = { ...SPECIFICATION_EXAMPLES[1], metadata: { status: "weird" } };
      assert.throws(() => A2ACardProtocol.parse(weird), /success/);
      return "four are created, another one is refused";
    },
  },
  {
    name: "QueryCard options",
    check: () => {
      const options = ["방법A", "방법B", "방법C"];
      const query = "어떤 방법을 사용할까요?";
      const card = A2ACardProtocol.createQueryCard({ from: PLANNER, to: SOLVER, query, options });
      assert.deepEqual(card.metadata.options, options);
      return "Korean options are kept";
    },
  },
  {
    name: "ControlCard stop + parameters",
    check: () => {
      const parameters = { reason: "timeout" };
      const card = A2ACardProtocol.createControlCard({
        from: CONTROLLER,
        to: PLANNER,
        action: "stop",
        parameters,
      });
      assert.deepEqual([card.content, card.metadata.parameters], ["stop", parameters]);
      return "kept";
    },
  },
  {
    name: "roles, who sends what to whom",
    check: () => {
      const card = { from: SOLVER, to: CONTROLLER, result: "9", status: "success" } as const;
      const found = createCardProtocol().validate({ ...SPECIFICATION_EXAMPLES[1], recipient: card.to });
      assert.equal(found.length, 1);
      return found[0]?.description ?? "";
    },
  },
  {
    name: "controller: time-out",
    check: async () => {
      const slow = createHangingModel();
      const outcome = await run({ model: slow, deadlineMs: 100, onError: "wrong" });
      const controls = listCards(outcome).filter(({ message_type }) => message_type === "control");
      assert.equal(controls[0]?.content, "stop");
      assert.match(JSON.stringify(controls[0]?.metadata["parameters"]), /"reason":"timeout"/);
      assert.equal(outcome.recording.scores[0]?.outcome, "timeout");
      return `${controls.length} control card, outcome timeout`;
    },
  },
  {
    name: "GSM8K 3 turns",
    check: () => {
      const [, ...rest] = listContents(ducks);
      assert.deepEqual(rest, [
        "Calculate 16 eggs - 3 eaten - 4 muffins",
        "9",
        "Calculate daily income: 9 eggs * $2",
        "$18",
        "18",
      ]);
      return "6 cards over HTTP with the contents of the specification";
    },
  },
  {
    name: "HotpotQA 5 turns (Inception)",
    check: () => {
      assert.deepEqual(listContents(inception).slice(1), [
        "Find who directed the movie Inception",
        "Christopher Nolan",
        "Find Christopher Nolan's birthplace",
        "Westminster, London, England",
        "Westminster, London, England",
      ]);
      return "the same";
    },
  },
  {
    name: "forced first call",
    check: async () => {
      const model = createScriptedModel(({ input }: ModelRequest) =>
        input.kind === "plan" ? action({ action: "final_answer", answer: "18" }) : "18",
      );
      const [, forced] = listCards(await run({ model }));
      assert.equal(forced?.metadata["forced"], true);
      return "an early answer becomes a task for the solver, marked as forced";
    },
  },
  {
    name: "solver returns the minimum",
    check: async () => {
      const model = createDialogueModel([["Explain", "word ".repeat(60)]], "18");
      const long = createScriptedModel(
        async (request: ModelRequest) => {
          const { usage: _usage, ...reply } = await model.complete(request);
          return reply;
        },
        { id: "long" },
      );
      assert.equal(buildRunReport((await run({ model: long })).recording).found["long-answer"], 1);
      return "requested in the prompt, and measured: finding long-answer";
    },
  },
  {
    name: "turns per dataset 3/5",
    check: async () => {
      const model = createScriptedModel(({ input }: ModelRequest) =>
        input.kind === "plan" ? action({ action: "call_solver", subtask: `Step ${input.turn}` }) : "9",
      );
      const counts = [];
      for (const dataset of [GSM8K, HOTPOTQA]) {
        const { recording } = await run({ dataset, model, planner: { forceFirstSolver: "allow" } });
        counts.push(recording.calls.filter(({ role }) => role === "planner").length);
      }
      assert.deepEqual(counts, [3, 5]);
      return `${counts.join(" and ")} turns`;
    },
  },
  {
    name: "Flow Diagram block",
    check: () => {
      for (const outcome of [ducks, inception])
        assert.equal(generateFlowDiagram(listCards(outcome)), FLOW_DIAGRAM);
      return "byte-equal for both dialogues";
    },
  },
  {
    name: "Python create_task_card(from_agent=…), .to_json()",
    check: () => {
      const card = A2ACardProtocol.createTaskCard({
        from: CONTROLLER,
        to: PLANNER,
        task: "Solve this problem",
      });
      assert.deepEqual(JSON.parse(toJson(card)), toDict(card));
      return "differs: createTaskCard({ from, to, task }), toJson(card), toDict(card)";
    },
  },
  {
    name: "A2AVisualizer",
    check: () => {
      const cards = listCards(ducks);
      const file = join(folder, "drawings/new/cards.txt");
      A2AVisualizer.saveCardVisualization(cards, file, { style: "classic" });
      const text = readFileSync(file, "utf8");
      assert.ok(text.startsWith("=".repeat(80) + "\nA2A CARD COMMUNICATION FLOW\n"));
      assert.ok(text.endsWith(`${A2AVisualizer.generateFlowDiagram(cards)}\n`));
      assert.equal(A2AVisualizer.visualizeCards(cards), visualizeCards(cards));
      assert.ok(renderSequenceText(cards).startsWith("CONTROLLER"));
      assert.ok(renderSequenceMermaid(cards).startsWith("sequenceDiagram\n"));
      return "three functions, classic style, lanes, Mermaid; creates folders";
    },
  },
  {
    name: "results/gsm8k_a2a_claude_cards.json, automatic",
    check: async () => {
      const file = join(folder, "results/gsm8k_a2a_claude_cards.json");
      assert.equal(ducks.specificationFile, file);
      assert.ok(existsSync(file));
      assert.equal(decodeMessageCardArray(readFileSync(file, "utf8"), file).length, 6);
      await assert.rejects(run({ outputFolder: join(folder, "results") }), /already exists/);
      return "the default name, never overwritten";
    },
  },
  {
    name: "card log snippet (Python)",
    check: () => {
      if (!hasPython) return "not run: no python3";
      assert.deepEqual(python.slice(0, 2), [
        "Counter({'task': 600, 'result': 600})",
        "Average turns per problem: 2.00",
      ]);
      return python.slice(0, 2).join("; ");
    },
  },
  {
    name: "success/completion snippet",
    check: () => {
      if (!hasPython) return "not run: no python3";
      assert.deepEqual(python.slice(2), ["Solver success rate: 66.67%", "Overall completion rate: 100.00%"]);
      return python.slice(2).join("; ");
    },
  },
  {
    name: "ErrorCard as a new type",
    check: () => {
      const verdict = defineCardType("verdict", {
        metadata: { score: rules.required(rules.nonNegativeInteger) },
      });
      const protocol = createCardProtocol({
        types: [verdict],
        routes: [{ from: SOLVER, to: PLANNER, types: ["verdict"] }],
      });
      const card = { ...SPECIFICATION_EXAMPLES[1], message_type: "verdict", metadata: { score: 1 } };
      assert.equal(protocol.parse(card).message_type, "verdict");
      assert.ok(
        A2ACardProtocol.createErrorCard({ from: SOLVER, to: PLANNER, error: "no", errorType: "timeout" }),
      );
      return "differs: built in; defineCardType instead of a class, sent with delegate({ type })";
    },
  },
  {
    name: "class Extended… extends A2ACardProtocol",
    check: async () => {
      class ExtendedA2ACardProtocol extends A2ACardProtocol {
        static readonly VALIDATOR = "validator";
        static readonly REVIEWER = "reviewer";
      }
      const { VALIDATOR, REVIEWER } = ExtendedA2ACardProtocol;
      const protocol = createCardProtocol({
        roles: [VALIDATOR, REVIEWER],
        routes: [
          { from: CONTROLLER, to: "validator", types: ["task"] },
          { from: "validator", to: "reviewer", types: ["task"] },
          { from: "reviewer", to: "validator", types: ["result"] },
          { from: "validator", to: CONTROLLER, types: ["result"] },
        ],
      });
      const roles = {
        validator: createAnsweringRole("validator", "reviewer"),
        reviewer: createAnsweringRole("reviewer"),
      };
      const served = await serveRoles({ protocol, roles });
      try {
        const controller = createController({ protocol, roleTargets: served.urls });
        const { cards } = await controller.solve({ task: "What is 9 * 2?", to: "validator", relay: "full" });
        assert.deepEqual([ExtendedA2ACardProtocol.VALIDATOR, cards.length], ["validator", 4]);
      } finally {
        await served.close();
      }
      return "VALIDATOR and REVIEWER exchange 4 cards over HTTP";
    },
  },
  {
    name: "best practice 5: failures are cards",
    check: async () => {
      let calls = 0;
      const model = createScriptedModel((request: ModelRequest) => {
        if (request.input.kind === "plan" && (calls += 1) === 1) return "The answer is 2.";
        return DUCKS.complete(request);
      });
      const cards = listCards(await run({ model }));
      const tries = cards.flatMap(({ metadata }) => metadata.failed_tries ?? []);
      assert.deepEqual(
        tries.map(({ text }) => text),
        ["The answer is 2."],
      );
      return "a failed try is on the next card, with its text";
    },
  },
  {
    name: "which step used tokens",
    check: () => {
      const { spending } = buildRunReport(ducks.recording);
      const rows = spending.map(({ role, turn, input, output }) => `${role} ${turn}: ${input + output}`);
      assert.deepEqual(rows.toSorted(), [
        "controller undefined: 0",
        "planner 1: 120",
        "planner 2: 120",
        "planner 3: 120",
        "solver 1: 120",
        "solver 2: 120",
      ]);
      return "tokens for each role and turn";
    },
  },
  {
    name: "keeps CoT's efficiency",
    check: async () => {
      const chain = await run({ method: "cot" });
      const { rows } = buildComparisonReport([chain.recording, ducks.recording]);
      const ratio = rows[1]?.against?.tokenRatio ?? Number.NaN;
      assert.equal(ratio, 5);
      assert.equal(chain.recording.samples.length, 1);
      return `denied and measured: ${ratio} × cot here, at 120 tokens a call; per answer and per correct answer`;
    },
  },
];

let failures = 0;
for (const [index, { name, check }] of SECTIONS.entries()) {
  let seen: string;
  let verdict = "works";
  try {
    seen = await check();
    if (seen.startsWith("differs: ")) [verdict, seen] = ["differs", seen.slice("differs: ".length)];
    else if (seen.startsWith("not run: ")) [verdict, seen] = ["not run", seen.slice("not run: ".length)];
  } catch (error) {
    failures += 1;
    [verdict, seen] = ["BROKEN", error instanceof Error ? error.message : String(error)];
  }
  console.log(`${String(index + 1).padStart(2)}  ${verdict.padEnd(7)}  ${name.padEnd(50)}  ${seen}`);
}
rmSync(folder, { recursive: true });
console.log(`${SECTIONS.length - failures} of ${SECTIONS.length} sections are as stated.`);
process.exitCode = failures > 0 ? 1 : 0;
