/** Name of the function that ADK calls to ask the user for a credential. */
export const CREDENTIAL_CALL_NAME = "adk_request_credential";

/** Name of the function that ADK calls to ask the user to confirm a tool call. */
export const CONFIRMATION_CALL_NAME = "adk_request_confirmation";

/** Returns true if ADK reserves the function name for its own requests to the user. */
export function isReservedCallName(name: string | undefined): boolean {
  return name?.startsWith("adk_request_") ?? false;
}
