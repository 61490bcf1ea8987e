import type { TaskCard } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { parseDocuments, pickDocuments } from "../context-documents.ts";

/**
 * Which part of the task's context a solver receives.
 *
 * - `none`: no context. The planner itself reads the documents.
 * - `full`: the entire context. The planner sees only the titles of the documents.
 * - `routed`: only the documents that the planner names for the subtask.
 * - A function: the context that it returns for the subtask.
 */
export type ContextPolicy = "none" | "full" | "routed" | ContextBuilder;

/** Builds the context of a subtask's card. `documents` are the titles that the planner named. */
export type ContextBuilder = (
  subtask: { readonly task: string; readonly documents?: readonly string[] },
  task: TaskCard,
) => JsonObject | undefined;

/** Returns the context of a subtask and the titles of the documents in it. */
export function buildSubtaskContext(
  policy: ContextPolicy,
  subtask: Parameters<ContextBuilder>[0],
  task: TaskCard,
): { readonly context?: JsonObject; readonly titles?: readonly string[] } {
  const fullContext = task.metadata.context;
  if (policy === "none") return {};
  if (policy === "routed") {
    if (!subtask.documents) return {};
    const { context, titles } = pickDocuments(fullContext, subtask.documents);
    return titles.length > 0 ? { context, titles } : {};
  }
  const context = policy === "full" ? fullContext : policy(subtask, task);
  if (context === undefined) return {};
  const titles = parseDocuments(context).map(({ title }) => title);
  return titles.length > 0 ? { context, titles } : { context };
}
