import type { JWK } from "../keys/index.ts";
import { signingKeys, type CardSigning } from "./card/card-signing.ts";
import type { PushSigner } from "./push/signature.ts";

/** What `/.well-known/jwks.json` answers. */
export interface PublishedKeys {
  keys(): Promise<{ readonly keys: readonly JWK[] }>;
}

/**
 * The public keys of all that is signed here; undefined when nothing is. A key with two uses stands there once, because
 * verifiers refuse to choose between two of one name.
 */
export function publishedKeys(
  push: PushSigner | undefined,
  signing: CardSigning | readonly CardSigning[] | undefined,
): PublishedKeys | undefined {
  if (!push && !signing) return undefined;
  return {
    async keys() {
      const sets = await Promise.all([push?.keys(), signing && signingKeys(signing)]);
      const all = sets.flatMap((set) => set?.keys ?? []);
      return { keys: [...new Map(all.map((key) => [JSON.stringify(key), key])).values()] };
    },
  };
}
