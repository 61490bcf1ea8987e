import { A2AError } from "../protocol/index.ts";

/**
 * Ability of a task store to commit. A `healthy` store commits. A `full` store has no disk space left. A
 * `failing` store cannot commit for another reason, for example because another program has locked the file.
 * A `failed` store could not sync its disk. A `failed` store does not know which of its last commits are
 * durable until it has opened its file again. The file of a `lost` store was removed, moved, or damaged while the
 * store was open. In every state, the store can read durable tasks.
 */
export type StoreState = "healthy" | "full" | "failing" | "failed" | "lost";

/** Change of the state of a task store. */
export interface StoreStateChange {
  /** Display name of the store, for example `sqlite:.colloquy/tasks.db`. */
  readonly store: string;
  readonly state: StoreState;
  readonly previousState: StoreState;
  /** Error that made the store leave the previous state. The change to `healthy` has no error. */
  readonly error?: Error;
}

/**
 * Health of a task store. A store with `TaskStore.health` leaves every state other than `healthy` without
 * help as soon as the fault is over: the store repeatedly tries to commit, and opens its file again if
 * necessary. A `lost` store becomes healthy only if its moved file has its path again.
 */
export interface StoreHealth {
  readonly state: StoreState;
  /** Calls `listener` after each change of the state. Returns a function that removes the listener. */
  onChange(listener: (change: StoreStateChange) => void): () => void;
}

/** Delay in seconds after which callers should repeat a request that the store could not serve. */
export const STORE_RETRY_AFTER_SECONDS = 2;

/**
 * Throws `UNAVAILABLE` if the store cannot commit, so that a new message is refused at once instead of after
 * a failed commit. A store without `health` accepts every message.
 */
export function assertStoreAcceptsNewWork(health: StoreHealth | undefined): void {
  if (health && !isStoreHealthy(health)) throw createStoreUnavailableError(health);
}

export function isStoreHealthy({ state }: StoreHealth): boolean {
  return state === "healthy";
}

/** Creates the error for requests that need a commit while the store cannot commit. */
export function createStoreUnavailableError({ state }: StoreHealth): A2AError {
  return new A2AError(
    "UNAVAILABLE",
    `The server cannot store messages at the moment (store: ${state}); try again in ${STORE_RETRY_AFTER_SECONDS} seconds.`,
    { retryAfter: STORE_RETRY_AFTER_SECONDS },
  );
}
