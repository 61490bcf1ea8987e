import type { Paragraph, TaskCard } from "../index.ts";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/**
 * A source document in a task's context. In a task card, the list `context.documents` contains documents as
 * `{title, sentences}` or `{title, text}`.
 */
export interface ContextDocument extends Paragraph {
  /** Identifier of the document, which planners use in actions. Default: the title. */
  readonly id: string;
}

/**
 * Policy that selects the task context that a solver receives.
 *
 * - `none`: solvers receive no context. Only the planner reads the documents.
 * - `full`: solvers receive the entire context. The planner sees only the document titles.
 * - `routed`: solvers receive only the documents that the planner selects for the subtask.
 */
export type SubtaskContextPolicy = "none" | "full" | "routed";

/** Creates the context of a task card from a list of documents. */
export function createTaskContextFromDocuments(paragraphs: readonly Paragraph[]): JsonObject {
  return { documents: paragraphs.map(({ title, sentences }) => ({ title, sentences: [...sentences] })) };
}

/** Returns the documents of a task context and ignores entries that are not documents. */
export function parseContextDocuments(context: JsonObject | undefined): ContextDocument[] {
  const list = context?.["documents"];
  return Array.isArray(list) ? list.flatMap((entry) => parseDocumentEntry(entry) ?? []) : [];
}

/**
 * Selects a task's documents by id or title, and keeps the order that the documents have in the context.
 * `unknown` lists the requested ids and titles that match no document.
 */
export function selectContextDocumentsByName(
  context: JsonObject | undefined,
  names: readonly string[],
): { context: JsonObject; titles: string[]; unknown: string[] } {
  const list = context?.["documents"];
  const entries = Array.isArray(list) ? list : [];
  const wanted = new Set(names.map(normalizeDocumentName));
  const matched = new Set<string>();
  const picked = entries.filter((entry) => {
    const document = parseDocumentEntry(entry);
    const names = document
      ? [normalizeDocumentName(document.id), normalizeDocumentName(document.title)].filter((n) =>
          wanted.has(n),
        )
      : [];
    for (const name of names) matched.add(name);
    return names.length > 0;
  });
  return {
    context: { documents: picked },
    titles: picked.flatMap((entry) => parseDocumentEntry(entry)?.title ?? []),
    unknown: names.filter((name) => !matched.has(normalizeDocumentName(name))),
  };
}

/** Returns the context without `documents` and `dataset`, or `undefined` if no other members remain. */
export function getNonDocumentContext(context: JsonObject = {}): JsonObject | undefined {
  const rest = Object.entries(context).filter(([name]) => name !== "documents" && name !== "dataset");
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

function parseDocumentEntry(entry: JsonValue): ContextDocument | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return undefined;
  const { title, sentences, text } = entry;
  const id = typeof entry["id"] === "string" ? entry["id"] : title;
  if (typeof title !== "string" || typeof id !== "string") return undefined;
  if (Array.isArray(sentences))
    return { id, title, sentences: sentences.filter((s) => typeof s === "string") };
  return { id, title, sentences: typeof text === "string" ? [text] : [] };
}

function normalizeDocumentName(name: string): string {
  return name.trim().toLowerCase();
}

/**
 * Returns the dataset name of a task from `metadata.dataset`, or else from `context.dataset`. Returns an
 * empty string if a task has no dataset name. In the example of the card specification, the context contains
 * the dataset name.
 */
export function getTaskDatasetName({ metadata }: TaskCard): string {
  const inContext = metadata.context?.["dataset"];
  return metadata.dataset ?? (typeof inContext === "string" ? inContext : "");
}
