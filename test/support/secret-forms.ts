/** A text with a secret, as agents, tools, and people write it. */
export interface SecretForm {
  readonly text: string;
  /** The part of `text` that no log and no record may contain. */
  readonly secret: string;
}

/** Random characters that no redactor can know, and that differ between the forms. */
const createRandomText = (length: number): string =>
  crypto.randomUUID().replaceAll("-", "").repeat(8).slice(0, length);

/** Texts in which `«…»` marks the secret, and `#N` stands for N random characters. */
const TEMPLATES = `
password=«#12»
password: «#12»
"password": "«#12»"
'password': '«#12»'
\\"password\\": \\"«#12»\\"
"password":"«sw or,d;#6»"
passwd=«#10»
pwd=«#10»
Pwd: «#10»
"dbPassword": "«#10»"
DB_PASSWORD=«#14»
user_password: '«#14»'
Server=db;User Id=sa;Password=«#12»;
passphrase: «#12»
"keyPassphrase": "«#12»"
passcode=«#10»
<password>«#12»</password>
PASSWORD '«#12»'
machine git.example login ada password «#16»
mysql --password=«#10»
tool --api-key «#20»
secret=«#16»
client_secret=«#24»
"clientSecret": "«#24»"
"secretAccessKey": "«#40»"
aws_secret_access_key = «#40»
AWS_SECRET_ACCESS_KEY=«#40»
aws_session_token=«#80»
AKIA is «AKIA#16»
api_key=«#20»
"apiKey": "«#20»"
X-API-Key: «#20»
API key: «#20»
Incorrect API key provided: «sk-proj-#24»
OPENAI_API_KEY=«sk-#32»
ANTHROPIC_API_KEY «sk-ant-api03-#32»
private_key: «#32»
"privateKey": "«#32»"
AccountKey=«#44»
SharedAccessKey=«#44»
Ocp-Apim-Subscription-Key: «#32»
"encryption_key": "«#32»"
credential=«#16»
"credential": "«#16»"
"credentials": "«#16»"
Authorization: Bearer «#32»
authorization: Basic «#24»
sent "Basic «#24»=="
curl -H \\"Bearer «#23»=\\"
"Authorization": "Token «#20»"
Proxy-Authorization: Digest username="a", response="«#32»"
Authorization: AWS4-HMAC-SHA256 Credential=a/b, Signature=«#64»
header Bearer «#40»
Negotiate «#40»
access_token=«#32»
"access_token":"«#32»"
"refreshToken": "«#32»"
id_token=«#32»
"sessionToken": "«#32»"
csrf_token: «#20»
X-Auth-Token: «#20»
//registry.npmjs.org/:_authToken=«#36»
_auth=«#36»
token: «#20»
"token": "«#20»"
https://git:«#20»@git.example/repository
https://«#40»@git.example/repository
postgres://ada:«#16»@db.example/data
redis://:«#16»@cache.example
https://api.example/v1?key=«#39»
https://api.example/v1?a=1&sig=«#43»
https://api.example/callback?code=«#30»&state=1
https://api.example/v1?auth=«#24»
https://files.example/x?X-Amz-Algorithm=a&X-Amz-Signature=«#64»
https://files.example/x?X-Amz-Security-Token=«#64»
https://files.example/x?X-Goog-Signature=«#64»
https://a.example/?access_token=«#30»#top
https://hooks.slack.com/services/T0/B0/«#24»
https://discord.com/api/webhooks/1/«#40»
Cookie: a=1; session=«#24»
Set-Cookie: sid=«#24»; Path=/; HttpOnly
"cookie": "sid=«#24»"
sessionid=«#24»
jwt «eyJhbGciOiJIUzI1NiJ9.eyJ#20.#30»
key «sk_live_#24»
key «rk_live_#24»
key «AIza#35»
token «ghp_#36»
token «github_pat_#22_#40»
token «glpat-#20»
token «npm_#36»
token «hf_#34»
token «xoxb-#12-#24»
token «xapp-1-#24»
token «pypi-#40»
token «dop_v1_#64»
token «shpat_#32»
token «ya29.#40»
token «GOCSPX-#28»
token «whsec_#32»
token «gsk_#40»
token «SG.#22.#43»
token «hvs.#24»
token «dckr_pat_#27»
token «ATATT3x#40»
bot 123456789:AA«#33»
«-----BEGIN PRIVATE KEY-----\\n#64\\n-----END PRIVATE KEY-----»
«-----BEGIN OPENSSH PRIVATE KEY-----#64»
"otp": "«#8»"
"codeVerifier": "«#43»"
"connectionString": "«#40»"
`;

/** Common forms of secrets, each with a random secret. */
export const SECRET_FORMS: readonly SecretForm[] = TEMPLATES.trim()
  .split("\n")
  .map((template) => {
    const filled = template
      .replaceAll(/#(\d+)/g, (_, length) => createRandomText(Number(length)))
      .replaceAll(String.raw`\n`, "\n");
    const start = filled.indexOf("«");
    const end = filled.indexOf("»");
    return { text: filled.replace(/[«»]/g, "").replace("»", ""), secret: filled.slice(start + 1, end) };
  });

/** Texts without secrets, which must stay readable. */
export const READABLE_TEXTS: readonly string[] = [
  'Bearer realm="a2a", error="invalid_token", error_description="The token expired"',
  'Digest realm="a2a", nonce="dcd98b7102dd2f0e", algorithm=SHA-256',
  "signature of the context token: no key matches; use the same key in mintContextToken and contextTokens",
  "bearer: the token expired",
  "Bearer authentication failed",
  "Unexpected token '}' at 5; maxTokens: 7",
  '{"nextPageToken":"page-2","inputTokens":12,"code":-32602,"key":"b"}',
  "Pass --api-key to authenticate",
  "The password: required for the account",
  "task 0198f4ce-8f3e-7d6a-9d0b-2f6f0d1f1c11 of ada@example.com",
];
