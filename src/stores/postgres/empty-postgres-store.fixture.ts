import { runTestSql } from "./postgres-server.fixture.ts";
import type { PostgresStoreOptions } from "./postgres-store-options.ts";
import { PostgresStore } from "./postgres-store.ts";

const EMPTY_ALL_TABLES_SQL = `
  TRUNCATE colloquy.node, colloquy.task, colloquy.log, colloquy.snapshot, colloquy.message, colloquy.push, colloquy.turn,
    colloquy.queued_turn, colloquy.deleted_task, colloquy.task_text, colloquy.task_text_queue;
  UPDATE colloquy.stored_size SET bytes = 0;`;

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
    await this.leases.renew();
  }
}
