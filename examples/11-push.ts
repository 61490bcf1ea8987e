/**
 * Receives task events by webhook while the client is offline. The server signs each notification and retries
 * it until the webhook accepts it.
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
    // The webhook is on this machine. By default, the server only sends to public addresses.
    allowPrivate: true,
    retry: { initialDelayMs: 50 },
  },
});
const { url } = await server.listen();

// The webhook requires the token and a signature with the server's key. To demonstrate a retry, the webhook
// rejects the first notification.
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
      throw new Error("Not ready yet.");
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
