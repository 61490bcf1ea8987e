/**
 * On request, opens a file and appends events to one ADK session until it is killed. It reports each stored
 * event.
 */
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { createEvent } from "@google/adk";
import { SqliteSessionService } from "../../src/agents/adk/index.ts";

const [file = "", name = ""] = process.argv.slice(2);

process.send?.("ready");
await once(process, "message");

const service = new SqliteSessionService(file);
const sessionKey = { appName: "app", userId: "u", sessionId: "s" };
// The first process creates the session. The others are rejected and load it.
const session =
  (await service.createSession(sessionKey).catch(() => undefined)) ?? (await service.getSession(sessionKey));
if (!session) throw new Error("no session");

for (let n = 0; ; n++) {
  const event = createEvent({ id: `${name}.${n}`, invocationId: name, author: name });
  event.actions.stateDelta[name] = n;
  await service.appendEvent({ session, event });
  process.send?.(n);
  if (n % 10 === 0) await setImmediate();
}
