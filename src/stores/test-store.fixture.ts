import type { ServerStore } from "./server-store.ts";

/** A store with all ports that the contract tests. */
export type TestStore = ServerStore &
  Required<Pick<ServerStore, "turns" | "pushStore" | "deletionStore" | "overview">>;

/** Ends the leases of the store like the end of its process. */
export async function restartTestStore(store: Pick<ServerStore, "open" | "close">): Promise<void> {
  await store.close();
  await store.open();
}
