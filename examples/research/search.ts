/** Full text over the passages of a folder, and vectors beside it where there is an embedding model. */
import { create, insertMultiple, search } from "@orama/orama";
import type { Passage } from "./passages.ts";
import { wordsOf } from "./words.ts";

/** A document that was found, with its best passages. */
export interface Found {
  document: string;
  title: string;
  score: number;
  passages: { heading: string; text: string; score: number }[];
}

export interface Results {
  /** Whether vectors had a say. */
  mode: "fulltext" | "hybrid";
  results: Found[];
}

export type Embed = (texts: string[]) => Promise<number[][]>;

/** How many passages are looked at, and how many of a document are shown. */
const PASSAGES = 60;
const SHOWN = 3;

const FIELDS = { document: "string", title: "string", heading: "string", text: "string" } as const;
const tokenizer = {
  language: "english",
  normalizationCache: new Map<string, string>(),
  tokenize: (raw: unknown) => (typeof raw === "string" ? [...new Set(wordsOf(raw))] : []),
};

export class Index {
  readonly #find: (query: string) => Promise<{ score: number; document: Passage }[]>;
  readonly mode: Results["mode"];

  private constructor(
    mode: Results["mode"],
    find: (query: string) => Promise<{ score: number; document: Passage }[]>,
  ) {
    this.mode = mode;
    this.#find = find;
  }

  static async of(passages: readonly Passage[], embed?: Embed): Promise<Index> {
    if (!embed || passages.length === 0) {
      const db = create({ schema: FIELDS, components: { tokenizer } });
      await insertMultiple(db, [...passages]);
      const boost = { title: 2, heading: 1.5 };
      const properties = ["title", "heading", "text"] as const;
      return new Index("fulltext", async (term) => {
        const { hits } = await search(db, { term, properties: [...properties], boost, limit: PASSAGES });
        return hits;
      });
    }
    const vectors = await embed(passages.map(({ title, heading, text }) => `${title}\n${heading}\n${text}`));
    const schema = { ...FIELDS, embedding: `vector[${vectors[0]?.length ?? 0}]` as const };
    const db = create({ schema, components: { tokenizer } });
    await insertMultiple(
      db,
      passages.map((passage, at) => ({ ...passage, embedding: vectors[at] as number[] })),
    );
    return new Index("hybrid", async (term) => {
      const [value] = await embed([term]);
      const vector = { value: value as number[], property: "embedding" };
      const { hits } = await search(db, { mode: "hybrid", term, vector, similarity: 0.2, limit: PASSAGES });
      return hits;
    });
  }

  /** The documents that match best, at most `limit`. */
  async search(query: string, limit: number): Promise<Results> {
    const byDocument = new Map<string, Found>();
    for (const { score, document: passage } of await this.#find(query)) {
      const { document, title, heading, text } = passage;
      const found = byDocument.get(document) ?? { document, title, score, passages: [] };
      byDocument.set(document, found);
      if (found.passages.length < SHOWN) found.passages.push({ heading, text, score });
    }
    return { mode: this.mode, results: [...byDocument.values()].slice(0, limit) };
  }
}
