import {
  type ModelCallRecordInput,
  type MessageCard,
  type CardRecordInput,
  type CardRecorder,
  PLANNER,
  SOLVER,
} from "../../index.ts";
import type { Role } from "../role.ts";

/** A problem with the planner's subtasks and the solver's answers. */
export interface PlannerSolverDialogue {
  readonly dataset: string;
  readonly task: string;
  readonly steps: readonly { readonly subtask: string; readonly answer: string }[];
  readonly answer: string;
}

/** The two example dialogues of the card specification are `JANET_DIALOGUE` and `SCRIPTED_INCEPTION_DIALOGUE`. */
export const JANET_DIALOGUE: PlannerSolverDialogue = {
  dataset: "gsm8k",
  task: "Janet's ducks lay 16 eggs per day...",
  steps: [
    { subtask: "Calculate 16 eggs - 3 eaten - 4 muffins", answer: "9" },
    { subtask: "Calculate daily income: 9 eggs * $2", answer: "$18" },
  ],
  answer: "18",
};

export const SCRIPTED_INCEPTION_DIALOGUE: PlannerSolverDialogue = {
  dataset: "hotpotqa",
  task: "What is the birthplace of the director of Inception?",
  steps: [
    { subtask: "Find who directed the movie Inception", answer: "Christopher Nolan" },
    { subtask: "Find Christopher Nolan's birthplace", answer: "Westminster, London, England" },
  ],
  answer: "Westminster, London, England",
};

/** Flow diagram of both dialogues in the card specification. */
export const EXPECTED_FLOW_DIAGRAM: string = `1. CONTROLLER    → [TASK]    PLANNER
2. PLANNER       → [TASK]    SOLVER
3. SOLVER        ← [RESULT]  PLANNER
4. PLANNER       → [TASK]    SOLVER
5. SOLVER        ← [RESULT]  PLANNER
6. PLANNER       ← [RESULT]  CONTROLLER`;

/** Creates a planner that sends the subtasks of a dialogue. */
export function createScriptedPlanner({ steps, answer }: PlannerSolverDialogue): Role {
  return {
    name: PLANNER,
    description: "Sends the subtasks of a dialogue.",
    async performTask(taskContext) {
      for (const [at, { subtask }] of steps.entries()) {
        const reply = await taskContext.delegate({ to: SOLVER, task: subtask, turn: at + 1 });
        if (reply.message_type === "error")
          return { error: reply.content, errorType: reply.metadata.error_type };
      }
      return { result: answer, status: "completed" };
    },
  };
}

/** Creates a solver that returns the answers of a dialogue. */
export function createScriptedSolver({ steps }: PlannerSolverDialogue): Role {
  return {
    name: SOLVER,
    description: "Returns the answers of a dialogue.",
    async performTask({ task }) {
      const found = steps.find(({ subtask }) => subtask === task.content);
      return found
        ? { result: found.answer, status: "success" }
        : { error: `Not in the dialogue: ${task.content}`, errorType: "solver_failed" };
    },
  };
}

/** A recorder that stores all records in memory. */
export class InMemoryTestCardRecorder implements CardRecorder {
  readonly cards: CardRecordInput[] = [];
  readonly calls: ModelCallRecordInput[] = [];

  recordCard(record: CardRecordInput): void {
    this.cards.push(record);
  }

  recordModelCall(record: ModelCallRecordInput): void {
    this.calls.push(record);
  }

  /** Each card once, in the order of its first record. */
  get uniqueCards(): MessageCard[] {
    return [...new Map(this.cards.map(({ card }) => [card.metadata.card_id, card])).values()];
  }

  /** One line per record: role, direction, and card type, for example `planner out task`. */
  get cardRecordLines(): string[] {
    return this.cards.map(({ at_role, dir, card }) => `${at_role} ${dir} ${card.message_type}`);
  }
}
