import type { JSONWebKeySet } from "../keys/index.ts";
import { buildCardSigningJwks, type CardSigningOptions } from "./card/card-signing.ts";
import type { PushSigner } from "./push/push-signer.ts";

/** Provides the key set that the server publishes at `/.well-known/jwks.json`. */
export interface JwksProvider {
  getJwks(): Promise<JSONWebKeySet>;
}

/**
 * Returns a provider of the public keys for all signatures of the server, or `undefined` when the server
 * signs nothing. A key that signs both cards and push notifications is listed once, because verifiers reject
 * two keys with the same id.
 */
export function createJwksProvider(
  pushSigner: PushSigner | undefined,
  cardSigning: CardSigningOptions | readonly CardSigningOptions[] | undefined,
): JwksProvider | undefined {
  if (!pushSigner && !cardSigning) return undefined;
  return {
    async getJwks() {
      const sets = await Promise.all([
        pushSigner?.getJwks(),
        cardSigning && buildCardSigningJwks(cardSigning),
      ]);
      const keys = sets.flatMap((set) => set?.keys ?? []);
      return { keys: [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()] };
    },
  };
}
