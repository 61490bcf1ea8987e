import type { AdkRunnableSource, SqliteSessionService } from "../../adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { CliError } from "../cli-error.ts";

/**
 * Makes agents of ADK's things. Their conversations live beside the tasks: in the SQLite file of the store when it is
 * one, else in memory. ADK is loaded only when there is something of ADK, because it is an optional peer.
 */
export class AdkAgentFactory {
  readonly #databaseFile: string | undefined;
  readonly #observer: Pick<Observer, "onError">;
  #sessionService: SqliteSessionService | undefined;

  constructor(store: string, observer: Pick<Observer, "onError">) {
    this.#databaseFile = store.startsWith("sqlite:") ? store.slice("sqlite:".length) : undefined;
    this.#observer = observer;
  }

  /** `id`: under which it is served. Its conversations are kept under that too, because names need not be unique. */
  async createAgent(id: string, source: AdkRunnableSource): Promise<Agent> {
    const { adkAgent, SqliteSessionService } = await requireAdk(import("../../adk/index.ts"));
    return adkAgent(source, {
      appName: id,
      observer: this.#observer,
      // Asked for once the store is open, which makes the file.
      sessionService: () =>
        this.#databaseFile === undefined
          ? undefined
          : (this.#sessionService ??= new SqliteSessionService(this.#databaseFile)),
    });
  }

  close(): void {
    this.#sessionService?.close();
  }
}

/** Says what to do when ADK is what is missing. */
export async function requireAdk<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("@google/adk")) throw error;
    const hint = "npm install @google/adk";
    throw new CliError("A2ACLI_ERR_INTERNAL", `Google ADK is not installed here: ${hint}`, hint, error);
  }
}
