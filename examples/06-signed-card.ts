/**
 * A server signs its cards, and a client talks only to agents whose card is signed by somebody whom it trusts.
 *
 *     node examples/06-signed-card.ts
 */
import { generateKeyPairSync } from "node:crypto";
import { agent, connect, createCardVerifier, createServer } from "colloquy";

// Made once, and kept where secrets are kept: `openssl genpkey -algorithm ed25519`, or any private JWK.
const { privateKey, publicKey } = generateKeyPairSync("ed25519");
const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

const bank = agent({ name: "bank", description: "Knows your balance" }, async function* () {
  yield "You have 12 coins.";
});
const server = createServer(bank, {
  store: "memory",
  cardSigning: { privateKey: pem, alg: "EdDSA", kid: "bank-2026" },
});
const { url } = await server.listen();

// The public key came to the client by a safe way, or stands at a URL that it trusts: `{ jwks: "https://…" }`.
const verify = createCardVerifier({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "bank-2026" }] });
const remote = await connect(url, { verifyCard: verify });
console.log(`The card of ${remote.card.name} holds.`);

const forged = { ...remote.card, supportedInterfaces: [{ url: "https://evil.example" }] };
await verify(forged).catch((error: Error) => console.log(error.message));
await server.close();
