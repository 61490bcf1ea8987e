import { runTestSql } from "./postgres-server.fixture.ts";
import type { PostgresStoreOptions } from "./postgres-store-options.ts";
import { PostgresStore } from "./postgres-store.ts";

const TABLES = [
  "node",
  "task",
  "log",
  "snapshot",
  "message",
  "push",
  "turn",
  "queued_turn",
  "deleted_task",
  "task_text",
  "task_text_queue",
];

// TRUNCATE creates new files for each table and each index, which takes longer than the deletion of a few rows.
const EMPTY_ALL_TABLES_SQL = [
  ...TABLES.map((table) => `DELETE FROM colloquy.${table};`),
  "UPDATE colloquy.stored_size SET bytes = 0;",
].join("\n");

/** A store that is empty when it is opened for the first time. */
export class EmptyPostgresStore extends PostgresStore {
  readonly #directUrl: string;
  #isEmpty = false;

  /** `directUrl` is the URL of the same database without a pooler. */
  constructor(url: string, options: PostgresStoreOptions, directUrl: string = url) {
    super(url, options);
    this.#directUrl = directUrl;
  }

  override async open(): Promise<void> {
    await super.open();
    if (this.#isEmpty) return;
    this.#isEmpty = true;
    await runTestSql(this.#directUrl, EMPTY_ALL_TABLES_SQL);
    await this.turns.renew();
  }
}
