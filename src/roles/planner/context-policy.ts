import type { TaskCard } from "../../cards/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { parseDocuments, pickDocuments } from "../context-documents.ts";

/**
 * What of the task's context a solver is shown. `none`: nothing; the planner reads the documents itself. `full`: everything;
 * the planner sees the titles of documents. `routed`: the planner sees the titles and names some on a subtask, and the
 * solver gets these and nothing else. Or a function that says; then the planner sees the titles, too.
 */
export type ContextPolicy = "none" | "full" | "routed" | ContextBuilder;

/** Makes the context of a subtask's card; `documents` are the titles that the planner named. */
export type ContextBuilder = (
  subtask: { readonly task: string; readonly documents?: readonly string[] },
  task: TaskCard,
) => JsonObject | undefined;

/** The context that goes with a subtask, and the titles of the documents in it. */
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
