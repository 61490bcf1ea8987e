import { documentsOf, pickDocuments } from "../documents.ts";
import type { Finding, ModelMessage, ModelReply } from "../model.ts";
import type { Answer } from "../role.ts";
import { type Action, understand } from "./action.ts";
import { problemOf, type Subtask } from "./placeholders.ts";
import * as prompts from "./prompts.ts";
import { ask, type PlannerRequest, whereabouts } from "./request.ts";
import { bestOf, mayCall, type Notice, partial, type PlannerState } from "./state.ts";

/** What happens to a planner. */
export type PlannerEvent =
  /** The controller's task is there, or the planner may go on. */
  | { readonly kind: "begun" }
  | { readonly kind: "replied"; readonly reply: ModelReply }
  /** All subtasks of a turn have come to their end. */
  | { readonly kind: "found"; readonly findings: readonly Finding[]; readonly tokens: number };

/** What a planner does next. */
export type PlannerStep =
  | { readonly kind: "think"; readonly request: PlannerRequest }
  | { readonly kind: "dispatch"; readonly subtasks: readonly Subtask[]; readonly forced: boolean }
  | { readonly kind: "answer"; readonly answer: Answer; readonly notice?: Notice };

export interface Move {
  readonly state: PlannerState;
  readonly step: PlannerStep;
}

/** The whole planner: what it does when something happens. */
export function next(state: PlannerState, event: PlannerEvent): Move {
  if (event.kind === "begun") return think(state);
  if (event.kind === "found") return think(remember(state, event.findings, event.tokens));
  const { text, usage } = event.reply;
  const spent = usage ? usage.input_tokens + usage.output_tokens : 0;
  return decide({ ...state, tokens: state.tokens + spent }, text);
}

function think(before: PlannerState): Move {
  const { limits, tokens, turn } = before;
  if (tokens >= limits.tokens)
    return stopAt(before, "token_budget", `${tokens} tokens are spent, of ${limits.tokens}`);
  if (turn > limits.turns) return stopAt(before, "turn_limit", `there are only ${limits.turns} turns`);
  const { state, request } = ask(before);
  return { state, step: { kind: "think", request } };
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
  if (settings.context === "routed" && documentsOf(task.metadata.context).length > 0) {
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
      return askAgain(
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
  if (!state.complaints.includes("useless")) return askAgain(state, text, "useless", problem);
  const error = `The planner's model gave no usable action in turn ${state.turn}, and none when asked again: ${problem}.`;
  return { state, step: { kind: "answer", answer: { error, errorType: "invalid_action" } } };
}

function askAgain(state: PlannerState, text: string, complaint: "useless" | "early", problem: string): Move {
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
  const text = `${prompts.found(findings, state.findings.length + 1)}\n\n${whereabouts(after)}`;
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
