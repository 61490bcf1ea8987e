/**
 * Creates a store with the code of a release, as the vectors for test/resilience/store-migrations.test.ts:
 *
 *     git worktree add --detach /tmp/released v0.1.0 && ln -s $PWD/node_modules /tmp/released/node_modules
 *     node test/vectors/earlier-stores/create-store.ts /tmp/released 0.1.0
 *
 * The program writes the dump `store-of-VERSION.sql`, the responses of the released server in `store-of-VERSION.json`,
 * and the key of the encrypted webhook secrets in `store-of-VERSION.key.txt`. A third argument is the folder of these
 * files.
 */
import { copyFileSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import {
  callEarlierStoreAgent,
  createEarlierStoreAgents,
  EARLIER_STORE_CALLERS,
  EARLIER_STORE_SERVER_OPTIONS,
  readEarlierStoreResponses,
} from "../../support/earlier-store-agents.ts";
import { dumpDatabase } from "../../support/dump-database.ts";

const [, , checkout = "", version = "", folder = import.meta.dirname] = process.argv;
const importRoom = (room: string): Promise<unknown> =>
  import(pathToFileURL(resolve(checkout, `src/${room}/index.ts`)).href);
const { createServer } = (await importRoom("server")) as typeof import("../../../src/server/index.ts");
const adapters = (await importRoom(
  "agents/adapters",
)) as typeof import("../../../src/agents/adapters/index.ts");
const file = join(mkdtempSync(join(tmpdir(), "earlier-store-")), "tasks.db");
const server = createServer(createEarlierStoreAgents(adapters), {
  ...EARLIER_STORE_SERVER_OPTIONS,
  store: `sqlite:${file}`,
});
const { agents } = await server.listen();
const urls = Object.fromEntries(agents.map(({ id, url }) => [id, url]));

async function send(
  agent: string,
  caller: string,
  text: string,
  more: object = {},
  configuration: object = {},
): Promise<{ taskId: string; contextId: string }> {
  const { messageId = crypto.randomUUID(), ...ids } = more as { messageId?: string };
  const message = { messageId, role: "ROLE_USER", parts: [{ text }], ...ids };
  const { task } = (await callEarlierStoreAgent(urls[agent] ?? "", caller, "SendMessage", {
    message,
    configuration,
  })) as { task: { id: string; contextId: string } };
  return { taskId: task.id, contextId: task.contextId };
}

for (const caller of EARLIER_STORE_CALLERS) {
  for (let n = 0; n < 3; n++) await send("echo", caller, `hello ${n}`, { messageId: `${caller}-${n}` });
  await send("echo", caller, "fail");
  if (caller === "alice") await send("echo", caller, "large");
  const asked = await send("ask", caller, "one");
  await send("ask", caller, "two", asked);
  await callEarlierStoreAgent(urls["ask"] ?? "", caller, "CreateTaskPushNotificationConfig", {
    taskId: asked.taskId,
    id: "hook",
    url: "http://127.0.0.1:9/hook",
    token: "secret",
  });
  const canceled = await send("ask", caller, "cancel me");
  await callEarlierStoreAgent(urls["ask"] ?? "", caller, "CancelTask", { id: canceled.taskId });
  await send("hang", caller, "never ends", {}, { returnImmediately: true });
}
const responses = await readEarlierStoreResponses(urls);
const target = join(folder, `store-of-${version}`);
writeFileSync(`${target}.json`, `${JSON.stringify(responses, null, 2)}\n`);
const db = new DatabaseSync(file, { readOnly: true });
writeFileSync(`${target}.sql`, dumpDatabase(db));
copyFileSync(`${file}.key`, `${target}.key.txt`);
// The running turns stay in the store, as after a killed process.
process.kill(process.pid, "SIGKILL");
