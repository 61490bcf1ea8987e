import type { TaskCard } from "../../index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { parseContextDocuments, selectContextDocumentsByName } from "../context-documents.ts";

/**
 * Policy that selects the task context that a solver receives.
 *
 * - `none`: solvers receive no context. Only the planner reads the documents.
 * - `full`: solvers receive the entire context. The planner sees only the document titles.
 * - `routed`: solvers receive only the documents that the planner selects for the subtask.
 * - A function: solvers receive the context that the function returns for the subtask.
 */
export type SubtaskDocumentContextPolicy = "none" | "full" | "routed" | ContextBuilder;

/** Builds the task context for a subtask. `documents` contains the titles that the planner selected. */
export type ContextBuilder = (
  subtask: { readonly task: string; readonly documents?: readonly string[] },
  task: TaskCard,
) => JsonObject | undefined;

/** Returns the context of a subtask and the titles of the documents in the context. */
export function selectSubtaskDocumentContextByPolicy(
  policy: SubtaskDocumentContextPolicy,
  subtask: Parameters<ContextBuilder>[0],
  task: TaskCard,
): { readonly context?: JsonObject; readonly titles?: readonly string[] } {
  const fullContext = task.metadata.context;
  if (policy === "none") return {};
  if (policy === "routed") {
    if (!subtask.documents) return {};
    const { context, titles } = selectContextDocumentsByName(fullContext, subtask.documents);
    return titles.length > 0 ? { context, titles } : {};
  }
  const context = policy === "full" ? fullContext : policy(subtask, task);
  if (context === undefined) return {};
  const titles = parseContextDocuments(context).map(({ title }) => title);
  return titles.length > 0 ? { context, titles } : { context };
}
