/**
 * The suites of a Durable Object with the compatibility with Node.js: the contract of task stores, on the SQLite database
 * of the object.
 */
import { DurableObjectStore, type DurableObjectStorage } from "../../../src/stores/durable-object/index.ts";
import { generatePushSecretKey } from "../../../src/stores/push-secret-cipher.ts";
import { defineTaskStoreContract } from "../../../src/stores/task-store.contract.ts";
import { runCollectedTests, type TestResult } from "../portable-vitest.ts";

/** Drops all tables, because the tests of one object share its database. */
function clearDatabase({ sql }: DurableObjectStorage): void {
  const tables = sql.exec(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '_cf_%'",
  );
  for (const { name } of tables.toArray()) sql.exec(`DROP TABLE ${String(name)}`);
}

/** Runs the tests whose names begin with the search parameter `prefix`, in an object. */
export class SuiteHost {
  readonly #storage: DurableObjectStorage;
  #isDefined = false;

  constructor({ storage }: { readonly storage: DurableObjectStorage }) {
    this.#storage = storage;
  }

  async fetch(request: Request): Promise<Response> {
    this.#defineTestsOnce();
    const prefix = new URL(request.url).searchParams.get("prefix") ?? "";
    const results: TestResult[] = await runCollectedTests((name) => name.startsWith(prefix));
    return Response.json(results);
  }

  #defineTestsOnce(): void {
    if (this.#isDefined) return;
    this.#isDefined = true;
    defineTaskStoreContract("DurableObjectStore", () => {
      clearDatabase(this.#storage);
      return new DurableObjectStore(this.#storage, { pushSecretKeys: [generatePushSecretKey()] });
    });
  }
}

interface SuiteEnvironment {
  readonly SUITES: { getByName(name: string): { fetch(request: Request): Promise<Response> } };
}

const handler = {
  fetch: (request: Request, { SUITES }: SuiteEnvironment): Promise<Response> =>
    SUITES.getByName("suites").fetch(request),
};
export default handler;
