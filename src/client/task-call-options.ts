import { defineOptionNames } from "../base/usage-checks/index.ts";
import type { A2AClient } from "./a2a-client.ts";
import { CALL_OPTION_NAMES, type CallOptions } from "./transport/transport.ts";

type TaskOptions<Operation extends "get" | "cancel" | "subscribe"> = NonNullable<
  Parameters<A2AClient["tasks"][Operation]>[1]
>;
type PushListOptions = NonNullable<Parameters<A2AClient["tasks"]["pushConfigs"]["list"]>[1]>;

type TaskOperationWithOptions = "get" | "list" | "cancel" | "subscribe" | "pushConfigs" | "listPushConfigs";

/** Functions that throw a `TypeError` for unknown options of the operations of `A2AClient.tasks`. */
export const assertKnownTaskOptions: Readonly<Record<TaskOperationWithOptions, (options: unknown) => void>> =
  {
    get: defineOptionNames<TaskOptions<"get">>()("tasks.get", CALL_OPTION_NAMES, "historyLength"),
    list: defineOptionNames<CallOptions>()("tasks.list", CALL_OPTION_NAMES),
    cancel: defineOptionNames<TaskOptions<"cancel">>()("tasks.cancel", CALL_OPTION_NAMES, "metadata"),
    subscribe: defineOptionNames<TaskOptions<"subscribe">>()("tasks.subscribe", CALL_OPTION_NAMES, "after"),
    pushConfigs: defineOptionNames<CallOptions>()("tasks.pushConfigs", CALL_OPTION_NAMES),
    listPushConfigs: defineOptionNames<PushListOptions>()(
      "tasks.pushConfigs.list",
      CALL_OPTION_NAMES,
      "pageSize pageToken",
    ),
  };
