import { describe, expect, it } from "vitest";
import { agent, inputRequired } from "../agents/adapters/index.ts";
import type { Agent } from "../engine/index.ts";
import type { OperationName } from "../protocol/index.ts";
import { bearer } from "./auth/index.ts";
import type { ServerOptions } from "./index.ts";

/** A complete response, as sent over the network. */
export interface ReceivedTestResponse {
  readonly status: number | string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A client of one binding in one version, which performs operations with a bearer token. */
export interface OwnershipTestBindingClient {
  readonly name: string;
  /** Version of the binding. 0.3 has no tenants and, over JSON-RPC, no ListTasks. */
  readonly version: "1.0" | "0.3";
  /** Performs an operation with the JSON parameters of 1.0. Returns only the beginning of a stream. */
  call(
    url: string,
    operation: OperationName,
    params: OwnershipTestOperationParams,
    token: string,
  ): Promise<ReceivedTestResponse>;
}

export type OwnershipTestOperationParams = Readonly<Record<string, unknown>> & { readonly tenant?: string };

/** Identities of the callers, by bearer token. */
export const TEST_IDENTITIES_BY_TOKEN = {
  "token-of-ada-0123456789": { principal: "ada" },
  "token-of-bob-0123456789": { principal: "bob" },
  "token-of-ada-of-globex-0": { principal: "ada", tenant: "globex" },
  "token-of-ada-elsewhere-0": {
    principal: "ada",
    contextScope: { contextIds: ["elsewhere"], namespace: "elsewhere" },
  },
} as const;
const [ADA, BOB, ADA_OF_GLOBEX, ADA_ELSEWHERE] = Object.keys(TEST_IDENTITIES_BY_TOKEN) as [
  string,
  string,
  string,
  string,
];

/** Options for the server under test, whose agent is `questionAskingTestAgent`. */
export const OWNERSHIP_TEST_SERVER_OPTIONS: ServerOptions = {
  store: "memory",
  authenticate: bearer({ tokens: TEST_IDENTITIES_BY_TOKEN }),
  push: { allowPrivate: true },
};

/** An agent that asks a question, waits for the answer, and returns the ids of referenced tasks. */
export const questionAskingTestAgent: Agent = agent(
  { name: "curious", description: "Asks back" },
  async function* (run) {
    yield `Referred to ${JSON.stringify((await run.loadReferencedTasks()).map(({ id }) => id))}.`;
    yield inputRequired("And then?");
  },
  { describeExtended: ({ principal }) => ({ description: `Asks ${principal} back` }) },
);

/** URL of a port on which no server listens. */
const UNREACHABLE_TEST_WEBHOOK_URL = "http://127.0.0.1:9/hook";

let builtTestMessageCount = 0;
const buildOwnershipTestMessageParams = (more: object = {}): OwnershipTestOperationParams => ({
  message: {
    messageId: `own-${++builtTestMessageCount}`,
    role: "ROLE_USER",
    parts: [{ text: "Hello" }],
    ...more,
  },
});

/** Parameters with which each operation names a task. Some operations name a context or nothing instead. */
const TEST_PARAMS_BY_OPERATION: Record<
  OperationName,
  (taskId: string, contextId: string) => OwnershipTestOperationParams
> = {
  SendMessage: (taskId) => buildOwnershipTestMessageParams({ taskId }),
  SendStreamingMessage: (taskId) => buildOwnershipTestMessageParams({ taskId }),
  GetTask: (id) => ({ id, historyLength: 1 }),
  ListTasks: (_, contextId) => ({ contextId }),
  CancelTask: (id) => ({ id }),
  SubscribeToTask: (id) => ({ id }),
  GetExtendedAgentCard: () => ({}),
  CreateTaskPushNotificationConfig: (taskId) => ({ taskId, id: "hook", url: UNREACHABLE_TEST_WEBHOOK_URL }),
  GetTaskPushNotificationConfig: (taskId) => ({ taskId, id: "hook" }),
  ListTaskPushNotificationConfigs: (taskId) => ({ taskId }),
  DeleteTaskPushNotificationConfig: (taskId) => ({ taskId, id: "hook" }),
};
const TESTED_OPERATION_NAMES = Object.keys(TEST_PARAMS_BY_OPERATION) as OperationName[];

/**
 * Defines the ownership tests for one binding. `url` returns the URL of a server with `questionAskingTestAgent` and
 * `OWNERSHIP_TEST_SERVER_OPTIONS`.
 */
export function defineOwnershipContract(wire: OwnershipTestBindingClient, url: () => string): void {
  /** Creates a task of Ada that waits for input. */
  const taskOfAda = async (
    more: OwnershipTestOperationParams = {},
  ): Promise<{ id: string; contextId: string }> => {
    const { body } = await wire.call(
      url(),
      "SendMessage",
      { ...buildOwnershipTestMessageParams(), ...more },
      ADA,
    );
    const [, id = "", contextId = ""] =
      /"id":"([^"]+)","contextId":"([^"]+)"/.exec(body.replace('"kind":"task",', "")) ?? [];
    expect(id).not.toBe("");
    return { id, contextId };
  };
  /** Returns the response about a task, with all ids of the task removed. */
  const callAndMask = async (
    operation: OperationName,
    { id, contextId }: { id: string; contextId: string },
    token: string,
    more: OwnershipTestOperationParams = {},
  ): Promise<ReceivedTestResponse> => {
    const params = { ...TEST_PARAMS_BY_OPERATION[operation](id, contextId), ...more };
    return maskIdsInTestResponse(await wire.call(url(), operation, params, token), id, contextId);
  };

  const isNewest = wire.version === "1.0";
  const operations = isNewest
    ? TESTED_OPERATION_NAMES
    : TESTED_OPERATION_NAMES.filter((operation) => operation !== "ListTasks");

  describe(`ownership, over ${wire.name} ${wire.version}`, () => {
    it.each(operations)(
      "%s hides a task from other callers [E13, M-02, M-03, M-04, K-02] [SEC-15]",
      async (operation) => {
        const own = await taskOfAda();
        await callAndMask("CreateTaskPushNotificationConfig", own, ADA);
        const unknown = {
          id: createUnknownTestIdOfSameForm(own.id),
          contextId: createUnknownTestIdOfSameForm(own.contextId),
        };
        // A caller that is limited to other contexts of the owner is a stranger, too.
        for (const stranger of [BOB, ADA_OF_GLOBEX, ADA_ELSEWHERE]) {
          const expected = await callAndMask(operation, unknown, stranger);
          expect(await callAndMask(operation, own, stranger)).toEqual(expected);
        }
        if (!isNewest) return;
        // The same principal in another tenant is also a different caller.
        const elsewhere = { tenant: "acme" };
        expect(await callAndMask(operation, own, ADA, elsewhere)).toEqual(
          await callAndMask(operation, unknown, ADA, elsewhere),
        );
      },
    );

    it.each(operations)(
      "%s returns the task to its owner, with a different response [M-03]",
      async (operation) => {
        const own = await taskOfAda();
        await callAndMask("CreateTaskPushNotificationConfig", own, ADA);
        const stranger = await callAndMask(operation, own, BOB);
        expect(await callAndMask(operation, own, ADA)).not.toEqual(stranger);
      },
    );

    it.runIf(isNewest)(
      "rejects a tenant other than that of the credentials, whether the task exists or not [M-02, K-02]",
      async () => {
        const task = await taskOfAda({ tenant: "acme" });
        const unknown = {
          id: createUnknownTestIdOfSameForm(task.id),
          contextId: createUnknownTestIdOfSameForm(task.contextId),
        };
        for (const operation of TESTED_OPERATION_NAMES) {
          const expected = await callAndMask(operation, unknown, ADA_OF_GLOBEX, { tenant: "acme" });
          expect(await callAndMask(operation, task, ADA_OF_GLOBEX, { tenant: "acme" })).toEqual(expected);
          expect(expected.body + JSON.stringify(expected.headers)).toContain("PERMISSION_DENIED");
        }
      },
    );

    it.runIf(isNewest)("lists only tasks of the caller, also without a filter [M-03] [SEC-16]", async () => {
      const own = await taskOfAda();
      const list = async (token: string): Promise<string> =>
        (await wire.call(url(), "ListTasks", {}, token)).body;
      expect(await list(ADA)).toContain(own.id);
      for (const stranger of [BOB, ADA_OF_GLOBEX, ADA_ELSEWHERE])
        expect(await list(stranger)).not.toContain(own.id);
    });

    it("treats contexts, references, and message ids of another caller as unused [F-08, F-16, M-04]", async () => {
      // All bindings share this server.
      const [ofAda, ofBob] = ["ada", "bob"].map((who) => `of-${who}-${wire.name}-${wire.version}`) as [
        string,
        string,
      ];
      const own = await taskOfAda({ ...buildOwnershipTestMessageParams({ messageId: ofAda }) });
      const send = async (
        names: { id: string; contextId: string },
        messageId: string,
      ): Promise<ReceivedTestResponse> => {
        const references = { contextId: names.contextId, referenceTaskIds: [names.id], messageId };
        const answer = await wire.call(
          url(),
          "SendMessage",
          buildOwnershipTestMessageParams(references),
          BOB,
        );
        const text = JSON.stringify(answer.body);
        expect(text).toContain("Referred to [].");
        // Ids that are generated per message differ in every response.
        const body = answer.body
          .replaceAll(names.contextId, "CONTEXT")
          .replaceAll(names.id, "TASK")
          .replaceAll(messageId, "MESSAGE")
          .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
          .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME");
        return { ...answer, headers: maskIdsInTestResponse(answer, "", "").headers, body };
      };
      const unknown = {
        id: createUnknownTestIdOfSameForm(own.id),
        contextId: createUnknownTestIdOfSameForm(own.contextId),
      };
      expect(await send(own, ofAda)).toEqual(await send(unknown, ofBob));
      if (!isNewest) return;
      // Ada's conversation is unchanged.
      const { body } = await wire.call(url(), "ListTasks", { contextId: own.contextId }, ADA);
      expect(body).toContain(`"totalSize":1`);
    });
  });
}

/** Returns a different id of the same form. */
function createUnknownTestIdOfSameForm(id: string): string {
  const last = id.at(-1) === "0" ? "1" : "0";
  return id.slice(0, -1) + last;
}

/** Removes the date and the ids of a task from a response. */
function maskIdsInTestResponse(
  { status, headers, body }: ReceivedTestResponse,
  id: string,
  contextId: string,
): ReceivedTestResponse {
  const without = (text: string): string =>
    [id, contextId].reduce(
      (masking, name) => (name === "" ? masking : masking.replaceAll(name, "NAME")),
      text,
    );
  const { date: _, ...rest } = headers;
  return {
    status,
    headers: Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, without(value)])),
    body: without(body),
  };
}
