import type { Card } from "../card/index.ts";
import { spreadOf, type Spread } from "./quantile.ts";
import { countBy } from "./seed.ts";
import { wilson, type Estimate } from "./wilson.ts";

/** Figures of the cards of one run. Cards are to be there once each, as they were sent. */
export interface Figures {
  readonly cards: number;
  readonly samples: number;
  readonly byType: Readonly<Record<string, number>>;
  /** `planner → solver`: how many. */
  readonly byEdge: Readonly<Record<string, number>>;
  /** Tasks from planner to solver, a sample; `undefined` where there are no samples. */
  readonly solverTasks: Spread | undefined;
  /** Of the solver's results to its planner, those of status `success`; `undefined` where there are none. */
  readonly solverSuccess: Estimate | undefined;
  /** Of the samples, those with a result `completed`; `undefined` where there are none. */
  readonly completion: Estimate | undefined;
  readonly errorsByType: Readonly<Record<string, number>>;
}

/**
 * The corrected figures beside `seedFigures`. `sampleIds` are all problems of the run, from its record: one that left
 * no card counts too, and a card that names none counts to none.
 */
export function figuresOf(cards: readonly Card[], sampleIds: readonly string[]): Figures {
  const samples = new Set(sampleIds);
  const tasks = cards.filter((card) => card.message_type === "task" && isEdge(card, "planner", "solver"));
  const results = cards.filter((card) => card.message_type === "result" && isEdge(card, "solver", "planner"));
  const successes = results.filter((card) => card.metadata["status"] === "success").length;
  const completed = new Set(
    cards
      .filter((card) => card.message_type === "result" && card.metadata["status"] === "completed")
      .flatMap((card) => card.metadata.sample_id ?? []),
  );
  const tasksOf = countBy(tasks, (card) => card.metadata.sample_id ?? "");
  return {
    cards: cards.length,
    samples: samples.size,
    byType: countBy(cards, (card) => card.message_type),
    byEdge: countBy(cards, (card) => `${card.sender} → ${card.recipient}`),
    solverTasks: samples.size > 0 ? spreadOf([...samples].map((id) => tasksOf[id] ?? 0)) : undefined,
    solverSuccess: results.length > 0 ? wilson(successes, results.length) : undefined,
    completion:
      samples.size > 0
        ? wilson([...samples].filter((id) => completed.has(id)).length, samples.size)
        : undefined,
    errorsByType: countBy(
      cards.filter((card) => card.message_type === "error"),
      (card) => errorTypeOf(card.metadata["error_type"]),
    ),
  };
}

function errorTypeOf(type: unknown): string {
  return typeof type === "string" ? type : "unknown";
}

function isEdge(card: Card, sender: string, recipient: string): boolean {
  return card.sender === sender && card.recipient === recipient;
}
