import type { JSONWebKeySet } from "../wire/keys/index.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { PushSigner } from "./push/push-signer.ts";

/** Provides the public keys that the server publishes at `/.well-known/jwks.json`. */
export interface PublishedJwksProvider {
  getJwks(): Promise<JSONWebKeySet>;
}

/**
 * Creates a provider of the public keys that verify the server's agent cards and push notifications. Returns
 * `undefined` if the server signs neither agent cards nor push notifications. The provider lists each public
 * key only once, because verifiers reject two keys with the same id.
 */
export function createPublishedJwksProvider(
  pushSigner: PushSigner | undefined,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[] | undefined,
): PublishedJwksProvider | undefined {
  if (!pushSigner && !cardSigning) return undefined;
  return {
    async getJwks() {
      const sets = await Promise.all([
        pushSigner?.getJwks(),
        cardSigning && loadCardSigningJwks(cardSigning),
      ]);
      const keys = sets.flatMap((set) => set?.keys ?? []);
      return { keys: [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()] };
    },
  };
}

async function loadCardSigningJwks(
  cardSigning: CardSigningOptions | readonly CardSigningOptions[],
): Promise<JSONWebKeySet> {
  const { buildCardSigningJwks } = await import("./card/card-signing.ts");
  return await buildCardSigningJwks(cardSigning);
}
