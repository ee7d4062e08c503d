/**
 * Tokens that carry their issuer's prefix, as the issuers document them. `mark` is the fixed beginning, without which
 * no token of the row can be in a text; `body` what must follow at least. Further letters of a token follow it by
 * themselves (`findShapes`). No row may begin with anything but its mark, so that a search is linear in the text.
 */
export interface IssuedToken {
  readonly issuer: string;
  readonly mark: string;
  readonly body: string;
  /** What a text must hold at least for the row to be tried: the mark, or where that begins with a class, its literal part. */
  readonly hint: string;
}

const row = (issuer: string, mark: string, body: string, hint = mark): IssuedToken => ({
  issuer,
  mark,
  body,
  hint,
});

export const ISSUED_TOKENS: readonly IssuedToken[] = [
  row('1Password', 'ops_ey', '[\\w+/=-]{60}'),
  row('age', 'AGE-SECRET-KEY-1', '[0-9A-Z]{58}'),
  row('Airtable', 'pat[A-Za-z0-9]{14}\\.', '[0-9a-f]{64}'),
  row('Atlassian', 'ATATT', '[\\w=-]{60}'),
  row('Buildkite', 'bkua_', '[0-9a-z]{40}'),
  row('CircleCI', 'CCIPAT_', '[A-Za-z0-9]{20}_[0-9a-f]{40}'),
  row('Cloudflare', 'cf(?:k|ut|at)_', '[A-Za-z0-9]{40}'),
  row('Contentful', 'CFPAT-', '[\\w-]{43}'),
  row('Databricks', 'dapi', '[0-9a-f]{32}'),
  row('DigitalOcean', 'do[opr]_v1_', '[0-9a-f]{64}'),
  row('Discord', '[MNO][A-Za-z0-9]{23,25}\\.[\\w-]{6}\\.', '[\\w-]{27}', '\\.[\\w-]{6}\\.[\\w-]{27}'),
  row('Docker', 'dckr_(?:pat|oat)_', '[\\w-]{27}'),
  row('Doppler', 'dp\\.(?:pt|ct|sa|scim|audit|st\\.[a-z0-9_-]{1,35})\\.', '[A-Za-z0-9]{40}'),
  row('Dropbox', 'sl\\.[A-Za-z0-9]', '[\\w=-]{129}'),
  row('Dynatrace', 'dt0[a-z]\\d\\d\\.', '[A-Z0-9]{24}\\.[A-Z0-9]{64}'),
  row('Figma', 'fig[dpo]r?_', '[\\w-]{40}'),
  row('Fly.io', 'f(?:m2|o1)_', '[\\w+/=-]{40}'),
  row('Grafana', 'gl(?:c|sa)_', '[A-Za-z0-9+/]{32}'),
  row('Groq', 'gsk_', '[A-Za-z0-9]{40}'),
  row('HashiCorp Terraform', '[A-Za-z0-9]{14}\\.atlasv1\\.', '[\\w=-]{60}', '\\.atlasv1'),
  row('HashiCorp Vault', 'hv[sbr]\\.', '[\\w-]{24}'),
  row('Heroku', 'HRKU-', '[\\w-]{36}'),
  row('Hugging Face', 'hf_', '[A-Za-z0-9]{30}'),
  row('Langfuse', 'sk-lf-', '[0-9a-f-]{36}'),
  row('LangSmith', 'lsv2_(?:pt|sk)_', '[0-9a-f]{32}_[0-9a-f]{10}'),
  row('Linear', 'lin_(?:api|oauth)_', '[A-Za-z0-9]{32}'),
  row('Mailchimp', '[0-9a-f]{32}-us', '\\d{1,2}', '-us\\d'),
  row('Mailgun', 'key-', '[0-9a-f]{32}'),
  row('Mailgun', '[0-9a-f]{32}-[0-9a-f]{8}-', '[0-9a-f]{8}', '-[0-9a-f]{8}-[0-9a-f]{8}'),
  row('Netlify', 'nfp_', '[A-Za-z0-9]{36}'),
  row('New Relic', 'NR(?:AK|JS|II)-', '[A-Za-z0-9_-]{19}'),
  row('Notion', 'ntn_', '[A-Za-z0-9]{40}'),
  row('Notion', 'secret_', '[A-Za-z0-9]{43}'),
  row('npm', 'npm_', '[A-Za-z0-9]{36}'),
  row('PagerDuty', 'pdus[+]_', '[\\w+-]{20}'),
  row('Perplexity', 'pplx-', '[A-Za-z0-9]{40}'),
  row('Pinecone', 'pcsk_', '\\w{40}'),
  row('PlanetScale', 'pscale_(?:tkn|pw|oauth)_', '[\\w=.-]{32}'),
  row('Postman', 'PMAK-', '[0-9a-f]{24}-[0-9a-f]{34}'),
  row('Prefect', 'pn[ub]_', '[A-Za-z0-9]{36}'),
  row('Pulumi', 'pul-', '[0-9a-f]{40}'),
  row('PyPI', 'pypi-', '[\\w-]{50}'),
  row('Replicate', 'r8_', '[A-Za-z0-9]{37}'),
  row('RubyGems', 'rubygems_', '[0-9a-f]{48}'),
  row('Sendinblue', 'xkeysib-', '[0-9a-f]{64}'),
  row('SendGrid', 'SG\\.', '[\\w-]{22}\\.[\\w-]{43}'),
  row('Sentry', 'sntry[su]_', '[A-Za-z0-9+/=_]{40}'),
  row('Shopify', 'shp(?:at|ca|pa|pat|ss)_', '[0-9a-fA-F]{32}'),
  row('Square', 'sq0(?:atp|csp)-', '[\\w-]{22}'),
  row('Square', 'EAAA[A-Za-z0-9]', '[\\w-]{59}'),
  row('Supabase', 'sb[ps]_', '[A-Za-z0-9_-]{20}'),
  row('Tailscale', 'tskey-', '[a-z]{2,20}-[0-9A-Za-z_]{8}'),
  row('Tavily', 'tvly-', '(?:dev-|prod-)?[A-Za-z0-9]{24}'),
  row('Telegram', '\\d{8,10}:AA', '[\\w-]{32}', ':AA'),
  row('Twilio', 'SK', '[0-9a-f]{32}(?![0-9A-Za-z])', 'SK[0-9a-f]{8}'),
  row('Typeform', 'tfp_', '[\\w.=-]{59}'),
  row('Vercel', 'vc[piark]_', '[A-Za-z0-9]{20}'),
  row('xAI', 'xai-', '[A-Za-z0-9]{60}'),
];
