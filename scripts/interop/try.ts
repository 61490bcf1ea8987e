import { createMountedConsole } from "../../src/cli/serve/serve-console.ts";
import { createServer } from "../../src/server/index.ts";
import { startPeerServers } from "./run-sdk-peer.ts";
import { ConsoleApiClient } from "./console/console-api-client.ts";
const {
  console: c,
  serverOptions,
  renderUrl,
} = createMountedConsole({ mode: "console", name: "x", host: "127.0.0.1", isAuthenticated: false });
const server = createServer({}, { ...serverOptions, store: "memory" });
const api = new ConsoleApiClient(renderUrl((await server.listen()).url));
const command = process.argv.slice(2) as [string, ...string[]];
const theirs = await startPeerServers(command, "a-token-of-16-characters-or-more");
const { id } = await api.addAgent(theirs.url);
let did = false;
const r = await api.sendMessage(id, { parts: [{ text: "wait" }] }, (line) => {
  console.log(JSON.stringify(line).slice(0, 400));
  if (JSON.stringify(line).includes("STATE_WORKING") && !did) {
    did = true;
    void api.cancelTask(id, (line as any).task_id).then(
      (t) => console.log("canceled", t.status),
      (e) => console.log("cancel failed", e.message),
    );
  }
});
console.log("END", JSON.stringify(r.end));
const secured = await api.addAgent(theirs.securedUrl);
console.log(JSON.stringify(secured).slice(0, 1500));
const refused = await api.sendMessage(secured.id, { parts: [{ text: "count" }] });
console.log(JSON.stringify(refused.end), JSON.stringify(refused.lines).slice(-600));
console.log(JSON.stringify((await api.listAgents()).find((a) => a.id === secured.id)).slice(0, 900));
theirs.stop();
c.close();
await server.close();
process.exit();
