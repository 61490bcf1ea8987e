import type { AdkSource, SqliteSessionService } from "../../adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import { Problem } from "../problem.ts";

/**
 * Makes agents of ADK's things. Their conversations live beside the tasks: in the SQLite file of the store when it is
 * one, else in memory. ADK is loaded only when there is something of ADK, because it is an optional peer.
 */
export class AdkAgents {
  readonly #file: string | undefined;
  readonly #observer: Pick<Observer, "onError">;
  #sessions: SqliteSessionService | undefined;

  constructor(store: string, observer: Pick<Observer, "onError">) {
    this.#file = store.startsWith("sqlite:") ? store.slice("sqlite:".length) : undefined;
    this.#observer = observer;
  }

  /** `id`: under which it is served. Its conversations are kept under that too, because names need not be unique. */
  async add(id: string, source: AdkSource): Promise<Agent> {
    const { adkAgent, SqliteSessionService } = await needAdk(import("../../adk/index.ts"));
    return adkAgent(source, {
      appName: id,
      observer: this.#observer,
      // Asked for once the store is open, which makes the file.
      sessionService: () =>
        this.#file === undefined ? undefined : (this.#sessions ??= new SqliteSessionService(this.#file)),
    });
  }

  close(): void {
    this.#sessions?.close();
  }
}

/** Says what to do when ADK is what is missing. */
export async function needAdk<T>(loading: Promise<T>): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes("@google/adk")) throw error;
    const hint = "npm install @google/adk";
    throw new Problem("A2ACLI_ERR_INTERNAL", `Google ADK is not installed here: ${hint}`, hint, error);
  }
}
