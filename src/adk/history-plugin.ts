import type * as Adk from "@google/adk";
import type { Message } from "../protocol/index.ts";
import { interruption, type OpenCall, openCalls } from "./open-calls.ts";
import { longRunningCall } from "./parts.ts";
import { nameSession, type Serving } from "./serving.ts";
import type { AdkEvent, AdkFunctionCall } from "./types.ts";

const NAME = "colloquy_history";

/**
 * Has a runner look at the history of each session before the next message goes into it: calls that were interrupted
 * are answered, and the task learns which others wait for their user. A plugin, because ADK has read the session then.
 */
export function watchHistory({ pluginManager }: Adk.Runner, { BasePlugin, createEvent }: typeof Adk): void {
  if (pluginManager.getPlugin(NAME)) return;
  class HistoryPlugin extends BasePlugin {
    override async onUserMessageCallback({
      invocationContext,
      userMessage,
    }: Parameters<Adk.BasePlugin["onUserMessageCallback"]>[0]): Promise<undefined> {
      const { session, sessionService } = invocationContext;
      const { interrupted, asked } = openCalls(session.events, userMessage);
      const serving = nameSession(invocationContext);
      const given = serving && asked.length > 0 ? await givenUp(serving, asked) : [];
      for (const [event, calls] of byEvent([...interrupted, ...given])) {
        const { invocationId, author = "", branch, isolationScope } = event as Adk.Event;
        const answer = createEvent({
          invocationId,
          author,
          content: interruption(calls),
        });
        if (branch !== undefined) answer.branch = branch;
        if (isolationScope !== undefined) answer.isolationScope = isolationScope;
        await sessionService?.appendEvent({ session, event: answer });
      }
    }
  }
  pluginManager.registerPlugin(new HistoryPlugin(NAME));
}

/** Notes who waits; the calls that no task waits for any more, and of which a model would not hear anything. */
async function givenUp(
  serving: Serving,
  asked: readonly (OpenCall & { isBare: boolean })[],
): Promise<OpenCall[]> {
  const { run } = serving;
  const tasks = await run.waiting();
  if (tasks.length > 0) serving.waiting = tasks.map(({ id }) => id);
  const waiting = new Set(tasks.flatMap(({ status }) => idsIn(status.message)));
  return asked.filter(({ call, isBare }) => isBare && !waiting.has(call.id ?? ""));
}

function idsIn(question: Message | undefined): string[] {
  return question?.parts.flatMap((part) => longRunningCall(part)?.id ?? []) ?? [];
}

function byEvent(open: readonly OpenCall[]): Map<AdkEvent, AdkFunctionCall[]> {
  const events = new Map<AdkEvent, AdkFunctionCall[]>();
  for (const { event, call } of open) events.set(event, [...(events.get(event) ?? []), call]);
  return events;
}
