/** Full-text index over the passages of a folder, with vectors if there is an embedding model. */
import { create, insertMultiple, search } from "@orama/orama";
import type { Passage } from "./passages.ts";
import { tokenize } from "./tokenizer.ts";

/** A document found by a search, with its best passages. */
export interface FoundDocument {
  document: string;
  title: string;
  score: number;
  passages: { heading: string; text: string; score: number }[];
}

export interface SearchResults {
  /** `hybrid` if the search also used vectors. */
  mode: "fulltext" | "hybrid";
  results: FoundDocument[];
}

export type Embed = (texts: string[]) => Promise<number[][]>;

/** Maximum number of passages per search, and maximum number of passages shown per document. */
const MAX_PASSAGES = 60;
const MAX_PASSAGES_PER_DOCUMENT = 3;

const INDEX_FIELDS = { document: "string", title: "string", heading: "string", text: "string" } as const;
const tokenizer = {
  language: "english",
  normalizationCache: new Map<string, string>(),
  tokenize: (raw: unknown) => (typeof raw === "string" ? [...new Set(tokenize(raw))] : []),
};

export class SearchIndex {
  readonly #findPassages: (query: string) => Promise<{ score: number; document: Passage }[]>;
  readonly mode: SearchResults["mode"];

  private constructor(
    mode: SearchResults["mode"],
    find: (query: string) => Promise<{ score: number; document: Passage }[]>,
  ) {
    this.mode = mode;
    this.#findPassages = find;
  }

  static async create(passages: readonly Passage[], embed?: Embed): Promise<SearchIndex> {
    if (!embed || passages.length === 0) {
      const db = create({ schema: INDEX_FIELDS, components: { tokenizer } });
      await insertMultiple(db, [...passages]);
      const boost = { title: 2, heading: 1.5 };
      const properties = ["title", "heading", "text"] as const;
      return new SearchIndex("fulltext", async (term) => {
        const { hits } = await search(db, { term, properties: [...properties], boost, limit: MAX_PASSAGES });
        return hits;
      });
    }
    const vectors = await embed(passages.map(({ title, heading, text }) => `${title}\n${heading}\n${text}`));
    const schema = { ...INDEX_FIELDS, embedding: `vector[${vectors[0]?.length ?? 0}]` as const };
    const db = create({ schema, components: { tokenizer } });
    await insertMultiple(
      db,
      passages.map((passage, at) => ({ ...passage, embedding: vectors[at] as number[] })),
    );
    return new SearchIndex("hybrid", async (term) => {
      const [value] = await embed([term]);
      const vector = { value: value as number[], property: "embedding" };
      const { hits } = await search(db, {
        mode: "hybrid",
        term,
        vector,
        similarity: 0.2,
        limit: MAX_PASSAGES,
      });
      return hits;
    });
  }

  /** Resolves with the best matching documents, at most `limit`. */
  async search(query: string, limit: number): Promise<SearchResults> {
    const byDocument = new Map<string, FoundDocument>();
    for (const { score, document: passage } of await this.#findPassages(query)) {
      const { document, title, heading, text } = passage;
      const found = byDocument.get(document) ?? { document, title, score, passages: [] };
      byDocument.set(document, found);
      if (found.passages.length < MAX_PASSAGES_PER_DOCUMENT) found.passages.push({ heading, text, score });
    }
    return { mode: this.mode, results: [...byDocument.values()].slice(0, limit) };
  }
}
