/**
 * A client that is not there while the agent works: the server posts what happens to its webhook, signed, and again
 * until it has arrived.
 *
 *     node examples/11-push.ts
 */
import { generateKeyPairSync } from "node:crypto";
import { createServer as createHttpServer } from "node:http";
import { agent, connect, createServer, createWebhook, isTerminal, toNodeListener, getText } from "colloquy";

const { privateKey } = generateKeyPairSync("ed25519");
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const baker = agent({ name: "baker", description: "Bakes slowly" }, async function* ({ text }) {
  yield `Here is your ${text}.`;
});
const server = createServer(baker, {
  store: "memory",
  push: {
    signing: { privateKey: pem, alg: "EdDSA" },
    allowPrivate: true, // this webhook is on this machine; without it only the internet is posted to
    retry: { initialDelayMs: 50 },
  },
});
const { url } = await server.listen();

// The webhook believes who knows the token and signs with the server's key. Its first answer is a failure.
const webhook = createHttpServer();
await new Promise<void>((resolve) => webhook.listen(0, "127.0.0.1", resolve));
const address = webhook.address();
const hook = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}/hook`;

let failed = false;
const done = Promise.withResolvers<void>();
const receive = createWebhook({
  token: "42",
  signature: { keys: `${url}/.well-known/jwks.json`, audience: hook },
  onEvent(event) {
    if (!failed) {
      failed = true;
      throw new Error("not yet");
    }
    if ("task" in event) console.log("task:", event.task.status.state);
    if ("artifactUpdate" in event) console.log("artifact:", getText(event.artifactUpdate.artifact.parts));
    if ("statusUpdate" in event) {
      const { state } = event.statusUpdate.status;
      console.log("status:", state);
      if (isTerminal(state)) done.resolve();
    }
  },
});
webhook.on("request", toNodeListener(receive));

const remote = await connect(url);
await remote.send("cake", {
  configuration: { taskPushNotificationConfig: { url: hook, token: "42" } },
});
await done.promise;
webhook.close();
await server.close();
