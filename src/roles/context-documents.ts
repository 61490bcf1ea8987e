import type { Paragraph } from "../cards/index.ts";
import type { JsonObject, JsonValue } from "../protocol/index.ts";

/** A text that a task comes with. In the card: `context.documents`, a list of `{title, sentences}` or `{title, text}`. */
export interface ContextDocument extends Paragraph {
  /** What it is called in an action; its title, if it has no other. */
  readonly id: string;
}

/** The context of a task card with these documents. */
export function createDocumentsContext(paragraphs: readonly Paragraph[]): JsonObject {
  return { documents: paragraphs.map(({ title, sentences }) => ({ title, sentences: [...sentences] })) };
}

/** The documents of a context; entries that are none are left out. */
export function parseDocuments(context: JsonObject | undefined): ContextDocument[] {
  const list = context?.["documents"];
  return Array.isArray(list) ? list.flatMap((entry) => parseDocument(entry) ?? []) : [];
}

/** Those that are meant by ids or titles, in the order of the context; and the names that mean none. */
export function pickDocuments(
  context: JsonObject | undefined,
  names: readonly string[],
): { context: JsonObject; titles: string[]; unknown: string[] } {
  const list = context?.["documents"];
  const entries = Array.isArray(list) ? list : [];
  const wanted = new Set(names.map(normalizeName));
  const matched = new Set<string>();
  const picked = entries.filter((entry) => {
    const document = parseDocument(entry);
    const names = document
      ? [normalizeName(document.id), normalizeName(document.title)].filter((n) => wanted.has(n))
      : [];
    for (const name of names) matched.add(name);
    return names.length > 0;
  });
  return {
    context: { documents: picked },
    titles: picked.flatMap((entry) => parseDocument(entry)?.title ?? []),
    unknown: names.filter((name) => !matched.has(normalizeName(name))),
  };
}

/** What a context has beside its documents and the name of the dataset, which no model needs; `undefined` for nothing. */
export function getNonDocumentContext(context: JsonObject = {}): JsonObject | undefined {
  const rest = Object.entries(context).filter(([name]) => name !== "documents" && name !== "dataset");
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

function parseDocument(entry: JsonValue): ContextDocument | undefined {
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return undefined;
  const { title, sentences, text } = entry;
  const id = typeof entry["id"] === "string" ? entry["id"] : title;
  if (typeof title !== "string" || typeof id !== "string") return undefined;
  if (Array.isArray(sentences))
    return { id, title, sentences: sentences.filter((s) => typeof s === "string") };
  return { id, title, sentences: typeof text === "string" ? [text] : [] };
}

function normalizeName(name: string): string {
  return name.trim().toLowerCase();
}
