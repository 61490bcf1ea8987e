/** Maximum length in characters of a URL that another computer sent. */
export const MAX_URL_LENGTH = 2_048;
