import { createWebhook } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";
import type { AgentSource } from "./agent-source.ts";
import type { ConsolePushRegistration } from "../console-api/index.ts";
import type { Workspace } from "./workspace.ts";

/** Maximum number of webhooks that the console keeps. */
const MAX_WEBHOOKS = 1_000;

/** The webhooks of the console. Each has an unguessable path and a token, which only the agent of its task knows. */
export class PushReceiver {
  readonly #handlers = new Map<string, (request: Request) => Promise<Response>>();

  /** Registers a webhook for a task at its agent. Deliveries become `push` lines of the workspace. */
  async register(
    { source, taskId, agentName, workspace }: PushRegistrationTarget,
    hooksUrl: string,
  ): Promise<ConsolePushRegistration> {
    if (this.#handlers.size >= MAX_WEBHOOKS)
      throw new A2AError(
        "RESOURCE_EXHAUSTED",
        `The console has ${MAX_WEBHOOKS} webhooks already; restart the console to remove them.`,
      );
    const hookId = crypto.randomUUID();
    const token = crypto.randomUUID();
    let configId = "";
    const handler = createWebhook({
      token,
      isExpectedTask: (id) => id === taskId,
      onEvent: () =>
        workspace.record.write({
          kind: "push",
          agent: agentName,
          task_id: taskId,
          config_id: configId,
          outcome: "delivered",
        }),
    });
    // The agent may ask for a confirmation before it accepts the webhook.
    this.#handlers.set(hookId, handler);
    const url = `${hooksUrl}/${hookId}`;
    try {
      configId = await source.registerWebhook(taskId, { url, token });
      return { configId, url };
    } catch (error) {
      this.#handlers.delete(hookId);
      throw error;
    }
  }

  /** Processes a delivery. Responds with 404 if no webhook has the id. */
  async receive(hookId: string, request: Request): Promise<Response> {
    const handler = this.#handlers.get(hookId);
    return handler ? await handler(request) : new Response(null, { status: 404 });
  }
}

export interface PushRegistrationTarget {
  readonly source: AgentSource;
  readonly taskId: string;
  readonly agentName: string;
  readonly workspace: Workspace;
}
