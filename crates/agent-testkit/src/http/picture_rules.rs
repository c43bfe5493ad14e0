//! What the services demand of a picture in a request. It is compared with the first bytes of its kind, and never decoded.

use serde_json::Value;

/// Checks a picture of Anthropic's: `{"type":"image","source":{"type":"base64","media_type":…,"data":…}}`.
pub(super) fn check_source(at: &str, block: &Value) -> Result<(), String> {
    let source = &block["source"];
    if source["type"] != "base64" {
        return Err(format!("{at}.source.type: this server takes base64 alone"));
    }
    check_data(at, source["media_type"].as_str().unwrap_or_default(), source["data"].as_str().unwrap_or_default())
}

/// Checks the URL of a picture of OpenAI's: `data:image/png;base64,…`.
pub(super) fn check_url(at: &str, url: &Value) -> Result<(), String> {
    let data = url.as_str().and_then(|url| url.strip_prefix("data:")).and_then(|rest| rest.split_once(";base64,"));
    let (media_type, data) = data.ok_or_else(|| format!("{at}: a picture must be a data URL with base64"))?;
    check_data(at, media_type, data)
}

fn check_data(at: &str, media_type: &str, data: &str) -> Result<(), String> {
    let known = STARTS.iter().find(|(known, _)| *known == media_type);
    let (_, start) = known.ok_or_else(|| format!("{at}: `{media_type}` is not a media type of pictures"))?;
    if !data.starts_with(start) {
        return Err(format!("{at}: the picture does not appear to be of the media type {media_type}"));
    }
    let body = data.trim_end_matches('=');
    let is_base64 = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    if !is_base64 || !data.len().is_multiple_of(4) || data.len() - body.len() > 2 {
        return Err(format!("{at}: invalid base64 data"));
    }
    if data.len() > MAX_DATA_BYTES {
        return Err(format!("{at}: image exceeds 5 MB maximum: {} bytes > {MAX_DATA_BYTES} bytes", data.len()));
    }
    Ok(())
}

/// How the base64 of each kind begins.
const STARTS: [(&str, &str); 4] =
    [("image/png", "iVBORw0KGg"), ("image/jpeg", "/9j/"), ("image/gif", "R0lGOD"), ("image/webp", "UklGR")];

const MAX_DATA_BYTES: usize = 5 * 1024 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_picture_is_base64_of_its_kind() {
        let check = |media_type: &str, data: &str| {
            let source = json!({"type": "base64", "media_type": media_type, "data": data});
            let as_block = check_source("x", &json!({"type": "image", "source": source}));
            assert_eq!(as_block, check_url("x", &json!(format!("data:{media_type};base64,{data}"))));
            as_block.err().unwrap_or_default()
        };
        assert_eq!(check("image/png", "iVBORw0KGgoA"), "");
        assert!(check("image/svg+xml", "AAAA").contains("not a media type"));
        assert!(check("image/jpeg", "iVBORw0KGgoA").contains("does not appear"));
        assert!(check("image/png", "iVBORw0KGgo*").contains("invalid base64"));
        assert!(check("image/png", "iVBORw0KGgo").contains("invalid base64"));
        assert!(check("image/png", &format!("iVBORw0KGgoA{}", "AAAA".repeat(2_000_000))).contains("exceeds 5 MB"));
        assert!(check_url("x", &json!("https://example.com/a.png")).is_err());
        assert!(check_source("x", &json!({"type": "image", "source": {"type": "url"}})).is_err());
    }
}
