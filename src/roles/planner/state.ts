import type { ControlCard, ErrorCard, ResultCard, TaskCard } from "../../cards/index.ts";
import { documentsOf, pickDocuments } from "../documents.ts";
import type { Finding, ModelMessage, ModelReply, ModelRequest } from "../model.ts";
import type { Answer } from "../role.ts";
import { type Action, type ActionName, actionSchema, understand } from "./action.ts";
import { type Limits, limitsOf, type Settings } from "./options.ts";
import { problemOf, type Subtask } from "./placeholders.ts";
import * as prompts from "./prompts.ts";

/** All that a planner knows between two steps. */
export interface PlannerState {
  readonly settings: Settings;
  readonly task: TaskCard;
  readonly limits: Limits;
  /** From 1. */
  readonly turn: number;
  readonly findings: readonly Finding[];
  /** Subtasks given. */
  readonly calls: number;
  /** Tokens spent, its own and those of its solvers. */
  readonly tokens: number;
  /** What was said since the problem was told; in a transcript of facts, since the turn began. */
  readonly said: readonly ModelMessage[];
  /** What was wrong with earlier replies of this turn. */
  readonly complaints: readonly ("useless" | "early")[];
  readonly paused: boolean;
}

/** What happens to a planner. */
export type PlannerEvent =
  /** The controller's task is there, or the planner may go on. */
  | { readonly kind: "begun" }
  | { readonly kind: "replied"; readonly reply: ModelReply }
  /** All subtasks of a turn have come to their end. */
  | { readonly kind: "found"; readonly findings: readonly Finding[]; readonly tokens: number };

/** What a planner does next. */
export type PlannerStep =
  | { readonly kind: "think"; readonly request: Omit<ModelRequest, "role" | "signal"> }
  | { readonly kind: "dispatch"; readonly subtasks: readonly Subtask[]; readonly forced: boolean }
  | { readonly kind: "answer"; readonly answer: Answer; readonly notice?: Notice };

export type Notice = Extract<Answer, { error: string }>;

export interface Move {
  readonly state: PlannerState;
  readonly step: PlannerStep;
}

export function begin(settings: Settings, task: TaskCard): PlannerState {
  return {
    settings,
    task,
    limits: limitsOf(settings, task),
    turn: 1,
    findings: [],
    calls: 0,
    tokens: 0,
    said: [],
    complaints: [],
    paused: false,
  };
}

/** The whole planner: what it does when something happens. */
export function next(state: PlannerState, event: PlannerEvent): Move {
  if (event.kind === "begun") return think(state);
  if (event.kind === "found") return think(remember(state, event.findings, event.tokens));
  const { text, usage } = event.reply;
  const spent = usage ? usage.input_tokens + usage.output_tokens : 0;
  return decide({ ...state, tokens: state.tokens + spent }, text);
}

/** What a control card changes, and what there is to say against it. `stop` is the desk's affair. */
export function heed(state: PlannerState, card: ControlCard): { state: PlannerState; notice?: Notice } {
  switch (card.content) {
    case "pause":
      return { state: { ...state, paused: true } };
    case "resume":
      return { state: { ...state, paused: false } };
    case "budget": {
      const limits: { -readonly [Name in keyof Limits]: number } = { ...state.limits };
      const wrong: string[] = [];
      for (const [name, value] of Object.entries(card.metadata.parameters ?? {})) {
        const limit = BUDGET[name];
        if (limit && typeof value === "number" && value >= 0) limits[limit] = value;
        else wrong.push(name);
      }
      const changed = { state: { ...state, limits } };
      if (wrong.length === 0) return changed;
      const error = `The budget card has ${wrong.join(", ")}, which says nothing here; numbers from 0 for ${Object.keys(BUDGET).join(", ")} do.`;
      return { ...changed, notice: { error, errorType: "protocol_violation" } };
    }
    default:
      return { state };
  }
}

const BUDGET: Readonly<Record<string, keyof Limits>> = {
  max_turns: "turns",
  max_solver_calls: "calls",
  token_budget: "tokens",
};

/** As far as it came, when it is stopped in the middle; nothing, when nothing was found. */
export function soFar(state: PlannerState, errorType: string): Answer | undefined {
  const best = bestOf(state);
  return best === undefined ? undefined : partial(state, best, errorType);
}

function think(state: PlannerState): Move {
  const { settings, task, limits, turn } = state;
  if (state.tokens >= limits.tokens)
    return stopAt(state, "token_budget", `${state.tokens} tokens are spent, of ${limits.tokens}`);
  if (turn > limits.turns) return stopAt(state, "turn_limit", `there are only ${limits.turns} turns`);
  const actions = actionsOf(state);
  const hasDocuments = documentsOf(task.metadata.context).length > 0;
  const left = limits.calls - state.calls;
  const last = state.said.at(-1);
  // In a transcript of facts each turn begins with all that is known; later messages of a turn only complain.
  const facts = settings.transcript === "facts" && state.findings.length > 0;
  const opening = [
    prompts.problem(task, settings.context),
    ...(facts ? [prompts.found(state.findings)] : []),
    ...(last ? [] : [prompts.where(turn, limits.turns, left, actions)]),
  ];
  const sees = { documents: hasDocuments, quotes: hasDocuments || state.findings.length > 0 };
  const messages: ModelMessage[] = [
    { role: "system", text: prompts.instructions(actions, settings.context, sees) },
    { role: "user", text: opening.join("\n\n") },
    ...state.said,
  ];
  const request: Omit<ModelRequest, "role" | "signal"> = {
    step: {
      kind: "plan",
      task,
      findings: state.findings,
      turn,
      turns: limits.turns,
      callsLeft: Number.isFinite(left) ? left : undefined,
      mode: settings.mode,
      ...(state.complaints.length > 0 && last && { repair: last.text }),
    },
    messages,
    schema: actionSchema(actions, hasDocuments && settings.context === "routed"),
    ...(settings.maxTokens !== undefined && { maxTokens: settings.maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
  };
  return { state, step: { kind: "think", request } };
}

/** What the planner is offered in this turn. */
function actionsOf(state: PlannerState): ActionName[] {
  const { settings, findings } = state;
  if (!mayCall(state)) return ["final_answer"];
  const call: ActionName = settings.mode === "chained" ? "call_solver" : "call_solvers";
  const first =
    findings.length === 0 && (settings.forceFirstSolver !== "allow" || settings.mode === "plan-first");
  return first ? [call] : [call, "final_answer"];
}

/** After the last turn nobody would make anything of what a solver finds. */
function mayCall({ turn, limits, calls }: PlannerState): boolean {
  return turn < limits.turns && calls < limits.calls;
}

function decide(state: PlannerState, text: string): Move {
  const understood = understand(text);
  if ("problem" in understood) return complain(state, text, understood.problem);
  const { action } = understood;
  if (action.action === "final_answer") return conclude(state, text, action.answer);
  if (!mayCall(state)) {
    const { limits, turn, calls } = state;
    const why =
      turn >= limits.turns
        ? `it delegated in its last turn, ${turn} of ${limits.turns}`
        : `it delegated again after ${calls} solver calls, of ${limits.calls}`;
    return stopAt(state, "turn_limit", why);
  }
  const subtasks = subtasksOf(state, action);
  const problem = checkBatch(state, subtasks);
  if (problem !== undefined) return complain(state, text, problem);
  return dispatch(remark(state, text), subtasks, false);
}

function subtasksOf(
  state: PlannerState,
  action: Exclude<Action, { action: "final_answer" }>,
): readonly Subtask[] {
  if (action.action === "call_solvers") return action.subtasks;
  const { subtask: task, documents } = action;
  return [{ id: `t${state.turn}`, task, ...(documents && { documents }) }];
}

function checkBatch(state: PlannerState, subtasks: readonly Subtask[]): string | undefined {
  const { settings, limits, calls, findings, task } = state;
  const left = limits.calls - calls;
  if (subtasks.length > left)
    return `${subtasks.length} subtasks are too many, only ${left} more can be given`;
  if (settings.context === "routed") {
    for (const { documents = [] } of subtasks) {
      const [stranger] = pickDocuments(task.metadata.context, documents).unknown;
      if (stranger !== undefined) return `there is no document ${JSON.stringify(stranger)}`;
    }
  }
  return problemOf(subtasks, new Set(findings.flatMap(({ id }) => id ?? [])));
}

function conclude(state: PlannerState, text: string, answer: string): Move {
  const { settings, findings, complaints, task } = state;
  const early = findings.length === 0 && mayCall(state);
  const allowed = settings.forceFirstSolver === "allow" && settings.mode !== "plan-first";
  if (early && !allowed) {
    if (!complaints.includes("early"))
      return ask(
        state,
        text,
        "early",
        "no solver was called yet, and the answer has to rest on what one finds",
      );
    if (settings.forceFirstSolver === "force")
      return dispatch(
        remark(state, text),
        [{ id: "forced", task: task.content, ...everyDocument(state) }],
        true,
      );
  }
  return {
    state,
    step: { kind: "answer", answer: { result: answer, status: "completed", metadata: { turn: state.turn } } },
  };
}

/** Whoever is given the whole problem needs all that belongs to it. */
function everyDocument({ settings, task }: PlannerState): { documents?: string[] } {
  if (settings.context !== "routed") return {};
  const ids = documentsOf(task.metadata.context).map(({ id }) => id);
  return ids.length > 0 ? { documents: ids } : {};
}

function complain(state: PlannerState, text: string, problem: string): Move {
  if (!state.complaints.includes("useless")) return ask(state, text, "useless", problem);
  const error = `The planner's model gave no usable action in turn ${state.turn}, and none when asked again: ${problem}.`;
  return { state, step: { kind: "answer", answer: { error, errorType: "invalid_action" } } };
}

function ask(state: PlannerState, text: string, complaint: "useless" | "early", problem: string): Move {
  const said: ModelMessage[] = [
    ...state.said,
    { role: "assistant", text },
    { role: "user", text: prompts.again(problem) },
  ];
  return think({ ...state, said, complaints: [...state.complaints, complaint] });
}

function remark(state: PlannerState, text: string): PlannerState {
  return { ...state, said: [...state.said, { role: "assistant", text }] };
}

function dispatch(state: PlannerState, subtasks: readonly Subtask[], forced: boolean): Move {
  return {
    state: { ...state, calls: state.calls + subtasks.length },
    step: { kind: "dispatch", subtasks, forced },
  };
}

/** The end of a turn: what was found is known from the next one on. */
function remember(state: PlannerState, findings: readonly Finding[], tokens: number): PlannerState {
  const after: PlannerState = {
    ...state,
    turn: state.turn + 1,
    findings: [...state.findings, ...findings],
    tokens: state.tokens + tokens,
    said: [],
    complaints: [],
  };
  if (state.settings.transcript === "facts") return after;
  const { limits, calls, turn } = after;
  const text = [
    prompts.found(findings, state.findings.length + 1),
    prompts.where(turn, limits.turns, limits.calls - calls, actionsOf(after)),
  ].join("\n\n");
  return { ...after, said: [...state.said, { role: "user", text }] };
}

function stopAt(state: PlannerState, errorType: "turn_limit" | "token_budget", why: string): Move {
  return {
    state,
    step: {
      kind: "answer",
      answer: partial(state, bestOf(state) ?? "", errorType),
      notice: { error: `The planner came to no answer: ${why}.`, errorType },
    },
  };
}

function partial({ turn, limits }: PlannerState, result: string, errorType: string): Answer {
  return {
    result,
    status: "partial",
    metadata: { turn: Math.max(1, Math.min(turn, limits.turns)), error_type: errorType },
  };
}

/** The last that a solver found. */
function bestOf({ findings }: PlannerState): string | undefined {
  return findings.findLast(({ status }) => status !== "error")?.answer;
}

/** What a solver's reply says, as a finding. */
export function findingOf(
  subtask: Subtask,
  reply: ResultCard | ErrorCard,
  documents: readonly string[] | undefined,
): Finding {
  return {
    id: subtask.id,
    subtask: subtask.task,
    status: reply.message_type === "error" ? "error" : reply.metadata.status,
    answer: reply.content,
    ...(documents && { documents }),
  };
}
