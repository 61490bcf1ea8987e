/**
 * THE NODES OF A SHARED STORE. If several servers share a store, each of them is a node. A node follows the tasks whose
 * turns other nodes run (`FollowedTask`): one poller reads the new events of all followed tasks from the store. Messages
 * and cancellations for these tasks become rows of the store, which the node of the turn reads and answers
 * (`NodeLink`). Hints between the nodes only shorten the delay of polls.
 *
 * The engine knows the other nodes only through its interface `OtherNodes`. The server chooses the implementation:
 * `createNodeCooperation` for a store with `nodes`, and `NO_OTHER_NODES` for every other store.
 */
export { createNodeCooperation } from "./node-access.ts";
export type * from "./node-store.ts";
