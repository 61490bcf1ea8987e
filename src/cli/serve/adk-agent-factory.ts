import type {
  AdkRunnableSource,
  MemoryArtifactService,
  MemorySessionService,
  SqliteSessionService,
} from "../../adk/index.ts";
import type { Agent, Observer } from "../../engine/index.ts";
import type { StoreOption } from "../../server/index.ts";
import { isPostgresUrl, PostgresStore } from "../../stores/index.ts";
import { CliError } from "../cli-error.ts";

/**
 * Factory that creates A2A agents from ADK objects. The agents store ADK sessions in the SQLite file or the PostgreSQL
 * database of the task store, or in memory if the task store uses memory. A later agent with the same id continues the
 * conversations and keeps the artifacts. The factory loads ADK on first use, because ADK is an optional peer dependency.
 */
export class AdkAgentFactory {
  /** The store of the server. A PostgreSQL store exists already, because the sessions use its connections. */
  readonly store: StoreOption;
  readonly #databaseFile: string | undefined;
  readonly #observer: Pick<Observer, "onError">;
  readonly #appNamesByEarlierName = new Map<string, string>();
  #sessionService: SqliteSessionService | undefined;
  #memorySessionService: MemorySessionService | undefined;
  #artifactService: MemoryArtifactService | undefined;

  constructor(store: string, observer: Pick<Observer, "onError">) {
    this.store = (
      isPostgresUrl(store) && URL.canParse(store) ? new PostgresStore(store) : store
    ) as StoreOption;
    this.#databaseFile = store.startsWith("sqlite:") ? store.slice("sqlite:".length) : undefined;
    this.#observer = observer;
  }

  /**
   * Creates an A2A agent from an ADK object. The factory stores the agent's sessions under `id`, which is by
   * default derived from the name of the ADK agent. An older version of Colloquy may have stored the sessions
   * under `earlierId`.
   */
  async createAgentFromAdk(
    source: AdkRunnableSource,
    { id, earlierId }: { readonly id?: string; readonly earlierId?: string } = {},
  ): Promise<Agent> {
    const adk = await requireAdk(import("../../adk/index.ts"));
    const { adkAgent, deriveAdkAgentId, PostgresSessionService, SqliteSessionService } = adk;
    const { store } = this;
    const appName = id ?? deriveAdkAgentId(source);
    if (earlierId !== undefined && appName !== undefined) this.#appNamesByEarlierName.set(earlierId, appName);
    return adkAgent(source, {
      ...(appName === undefined ? {} : { appName, id: appName }),
      observer: this.#observer,
      artifactService: (this.#artifactService ??= new adk.MemoryArtifactService()),
      // Opened lazily, because the store creates the file.
      sessionService: () =>
        store instanceof PostgresStore
          ? new PostgresSessionService(store)
          : this.#databaseFile === undefined
            ? (this.#memorySessionService ??= new adk.MemorySessionService())
            : (this.#sessionService ??= new SqliteSessionService(this.#databaseFile, {
                currentAppNamesByEarlierName: this.#appNamesByEarlierName,
              })),
    });
  }

  /**
   * Assigns the sessions of an older version of Colloquy to the current agents. Call the function after the task
   * store has created the file.
   */
  adoptEarlierSessions(): void {
    if (this.#appNamesByEarlierName.size > 0) this.#sessionService?.open();
  }

  close(): void {
    this.#sessionService?.close();
  }
}

/** Adds an installation hint to the error if ADK is not installed. */
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
