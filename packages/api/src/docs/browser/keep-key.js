/**
 * Runs in the browser, on /docs: keeps the entered key in the local storage only if a box is checked. Swagger UI stores it there while
 * `persistAuthorization` is set.
 */
const STORED = 'authorized';

window.addEventListener('swagger-ui', ({ detail: { authActions, authSelectors, getConfigs } }) => {
  const keep = (isKept) => {
    getConfigs().persistAuthorization = isKept;
    if (isKept) localStorage.setItem(STORED, JSON.stringify(authSelectors.authorized().toJS()));
    else localStorage.removeItem(STORED);
  };

  const stored = localStorage.getItem(STORED);
  if (stored !== null) {
    authActions.restoreAuthorization({ authorized: JSON.parse(stored) });
    keep(true);
  }

  const box = document.createElement('input');
  box.type = 'checkbox';
  box.id = 'keep-key';
  box.checked = stored !== null;
  box.addEventListener('change', () => keep(box.checked));

  const label = document.createElement('label');
  label.className = 'keep-key';
  label.append(box, ' Keep the key in this browser');

  // The box is next to the button "Authorize".
  const insert = () => {
    const area = document.querySelector('.auth-wrapper');
    if (area !== null && !area.contains(label)) area.prepend(label);
  };
  new MutationObserver(insert).observe(document.querySelector('#swagger-ui'), { childList: true, subtree: true });
  insert();
});
