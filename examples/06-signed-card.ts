/**
 * Signs the agent cards of a server. The client accepts only cards signed with a trusted key.
 *
 *     node examples/06-signed-card.ts
 */
import { generateKeyPairSync } from "node:crypto";
import { agent, connect, createCardVerifier, createServer } from "colloquy";

// In production, create the key once and store it with your other secrets. Use `openssl genpkey -algorithm
// ed25519` or any private JWK.
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

// Send the public key to the client over a trusted channel, or publish it at a trusted URL: `{ jwks:
// "https://…" }`.
const verify = createCardVerifier({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "bank-2026" }] });
const remote = await connect(url, { verifyCard: verify });
console.log(`The signature of the ${remote.card.name} card is valid.`);

const forged = { ...remote.card, supportedInterfaces: [{ url: "https://evil.example" }] };
await verify(forged).catch((error: Error) => console.log(error.message));
await server.close();
