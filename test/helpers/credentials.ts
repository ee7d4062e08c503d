/** Credentials of the right shape and of nobody. Put together here so that no scanner takes this file for a leak. */
const run = (length: number, seed = 'a1B2c3D4e5F6g7H8'): string =>
  seed.repeat(Math.ceil(length / seed.length)).slice(0, length);
const hex = (length: number): string => run(length, '0f1e2d3c4b5a69788796a5b4c3d2e1f0');
const base64url = (value: unknown): string =>
  btoa(JSON.stringify(value)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

export const AWS_ID = `AKIA${'Q3EGRI7ZL5XO2MBN'}`;
export const AWS_SECRET = `${run(19)}/${run(20, 'zY9x+W8v7U6t5S4r3Q2p')}`;
export const JWT = `${base64url({ alg: 'HS256', typ: 'JWT' })}.${base64url({ sub: 'user-17' })}.${run(43)}`;
export const PEM = `-----BEGIN RSA PRIVATE KEY-----\n${Array.from({ length: 5 }, () => run(64)).join('\n')}\n${run(20)}==\n-----END RSA PRIVATE KEY-----`;

/** By kind: text known by its own shape. */
export const SHAPED: Readonly<Record<string, readonly string[]>> = {
  'aws-access-key': [AWS_ID, `ASIA${'Q3EGRI7ZL5XO2MBN'}`],
  'aws-session-token': [`IQoJb3JpZ2luX2Vj${run(300)}==`],
  'bedrock-api-key': [`ABSK${run(120)}=`],
  'private-key': [PEM, PEM.slice(0, 200), PEM.replaceAll('RSA ', '').replaceAll('\n', '\\n')],
  'github-token': [`ghp_${run(36)}`, `gho_${run(36)}`, `github_pat_${run(22)}_${run(59)}`],
  'gitlab-token': [`glpat-${run(20)}`],
  'slack-token': [`xoxb-123456789012-1234567890123-${run(24)}`],
  'stripe-key': [`sk_live_${run(24)}`, `rk_test_${run(24)}`],
  'google-key': [`AIza${run(35)}`, `ya29.${run(60)}`],
  'openai-key': [`sk-${run(48)}`, `sk-proj-${run(60)}-${run(60)}`],
  'anthropic-key': [`sk-ant-api03-${run(80)}-AA`],
  'api-key': [
    `hf_${run(34)}`,
    `gsk_${run(52)}`,
    `tvly-${run(32)}`,
    `SK${hex(32)}`,
    `dp.pt.${run(43)}`,
    `dp.st.prd_main.${run(43)}`,
    `lin_api_${run(40)}`,
    `ntn_${'4'.repeat(11)}${run(35)}`,
    `figd_${run(40)}`,
    `${'712345678'}:AA${run(33)}`,
    `M${run(24)}.G${run(5)}.${run(38)}`,
    `key-${hex(32)}`,
    `${hex(32)}-${hex(8)}-${hex(8)}`,
    `sq0atp-${run(22)}`,
    `EAAA${run(60)}`,
    `glsa_${run(32)}_${hex(8)}`,
    `dckr_pat_${run(27)}`,
    `tskey-auth-${run(12)}-${run(24)}`,
    `vcp_${run(24)}`,
    `PMAK-${hex(24)}-${hex(34)}`,
    `pul-${hex(40)}`,
    `sbp_${hex(40)}`,
    `xkeysib-${hex(64)}-${run(16)}`,
  ],
  jwt: [JWT],
};
export const ALL_SHAPED = Object.values(SHAPED).flat();
